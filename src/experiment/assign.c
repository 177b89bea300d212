/* Assigns units by the digits of a keyed hash: some say whether a unit takes part, others which arm
 * it has. */
#include "experiment/assign.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t number_at(const unsigned char *bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < 8; i++) {
        number = number << 8 | bytes[i];
    }
    return number;
}

void assign_unit(const char *salt, double share, size_t arms, const char *unit, size_t length,
                 struct assigned *assigned)
{
    unsigned char digest[SHA256_SIZE];
    sha256_hmac(salt, strlen(salt), unit, length, digest);
    /* 53 bits are a whole number of a double's: exactly `share` of them are below it. */
    double place = (double)(number_at(digest) >> 11) / 9007199254740992.0;
    assigned->takes_part = place < share;
    assigned->arm = (size_t)((number_at(digest + 8) >> 32) * arms >> 32);
    for (size_t i = 0; i < sizeof digest; i++) {
        snprintf(assigned->unit + 2 * i, 3, "%02x", digest[i]);
    }
}
