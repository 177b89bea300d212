/* SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104), and comparing without telling where a difference
 * is. */
#ifndef FORAGE_CORE_SHA256_H
#define FORAGE_CORE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32

struct sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
};

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, size_t length);
void sha256_end(struct sha256 *sha, unsigned char digest[SHA256_SIZE]);

void sha256_hmac(const void *key, size_t key_length, const void *data, size_t length,
                 unsigned char digest[SHA256_SIZE]);
/* Takes the same time wherever the two differ. */
bool sha256_same(const unsigned char a[SHA256_SIZE], const unsigned char b[SHA256_SIZE]);

#endif
