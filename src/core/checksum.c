/* Four lanes that do not wait for each other, each step of which can be undone: a change of one
 * word always changes its lane, and with it the result. */
#include "core/checksum.h"

#include <string.h>

#define LANES  4
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * FACTOR;
    return lane << 29 | lane >> 35;
}

static uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

uint64_t checksum(const void *data, size_t length)
{
    const unsigned char *bytes = data;
    uint64_t lanes[LANES] = {1, 2, 3, 4};
    size_t left = length;
    for (; left >= sizeof lanes; left -= sizeof lanes, bytes += sizeof lanes) {
        for (size_t i = 0; i < LANES; i++) {
            lanes[i] = mix(lanes[i], word_at(bytes + i * sizeof *lanes));
        }
    }
    unsigned char rest[sizeof lanes] = {0};
    if (left) {
        memcpy(rest, bytes, left);
    }
    uint64_t sum = length;
    for (size_t i = 0; i < LANES; i++) {
        sum = mix(sum, mix(lanes[i], word_at(rest + i * sizeof *lanes)));
    }
    return sum ^ sum >> 32;
}
