/* SHA-256, straight from the standard. */
#include "core/sha256.h"

#include <string.h>

static const uint32_t ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned by)
{
    return (x >> by) | (x << (32 - by));
}

/* One round. Instead of moving each sum to the next place, the caller names them one place on. */
__attribute__((always_inline)) static inline void mix(uint32_t a, uint32_t b, uint32_t c,
                                                      uint32_t *d, uint32_t e, uint32_t f,
                                                      uint32_t g, uint32_t *h, uint32_t word)
{
    uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t choice = g ^ (e & (f ^ g));
    uint32_t first = *h + sum1 + choice + word;
    uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t majority = (a & b) | (c & (a | b));
    *d += first;
    *h = first + sum0 + majority;
}

static void digest_block(struct sha256 *sha, const unsigned char *block)
{
    uint32_t w[64];
    for (size_t i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (size_t i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = sha->state[0], b = sha->state[1], c = sha->state[2], d = sha->state[3];
    uint32_t e = sha->state[4], f = sha->state[5], g = sha->state[6], h = sha->state[7];
    for (size_t i = 0; i < 64; i += 8) {
        mix(a, b, c, &d, e, f, g, &h, ROUND[i] + w[i]);
        mix(h, a, b, &c, d, e, f, &g, ROUND[i + 1] + w[i + 1]);
        mix(g, h, a, &b, c, d, e, &f, ROUND[i + 2] + w[i + 2]);
        mix(f, g, h, &a, b, c, d, &e, ROUND[i + 3] + w[i + 3]);
        mix(e, f, g, &h, a, b, c, &d, ROUND[i + 4] + w[i + 4]);
        mix(d, e, f, &g, h, a, b, &c, ROUND[i + 5] + w[i + 5]);
        mix(c, d, e, &f, g, h, a, &b, ROUND[i + 6] + w[i + 6]);
        mix(b, c, d, &e, f, g, h, &a, ROUND[i + 7] + w[i + 7]);
    }
    const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; i++) {
        sha->state[i] += sums[i];
    }
}

void sha256_init(struct sha256 *sha)
{
    static const uint32_t START[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, START, sizeof START);
    sha->length = 0;
}

void sha256_add(struct sha256 *sha, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    size_t filled = sha->length % sizeof sha->block;
    sha->length += length;
    while (length) {
        size_t take = sizeof sha->block - filled;
        if (take > length) {
            take = length;
        }
        memcpy(sha->block + filled, bytes, take);
        bytes += take;
        length -= take;
        filled += take;
        if (filled == sizeof sha->block) {
            digest_block(sha, sha->block);
            filled = 0;
        }
    }
}

void sha256_end(struct sha256 *sha, unsigned char digest[SHA256_SIZE])
{
    static const unsigned char PADDING[64] = {0x80};
    uint64_t bits = sha->length * 8;
    size_t filled = sha->length % 64;
    sha256_add(sha, PADDING, filled < 56 ? 56 - filled : 120 - filled);
    unsigned char tail[8];
    for (size_t i = 0; i < 8; i++) {
        tail[i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    sha256_add(sha, tail, sizeof tail);
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        digest[i] = (unsigned char)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void sha256_hmac(const void *key, size_t key_length, const void *data, size_t length,
                 unsigned char digest[SHA256_SIZE])
{
    unsigned char block[64] = {0};
    struct sha256 sha;
    if (key_length > sizeof block) {
        sha256_init(&sha);
        sha256_add(&sha, key, key_length);
        sha256_end(&sha, block);
    } else {
        memcpy(block, key, key_length);
    }
    unsigned char inner[64];
    unsigned char outer[64];
    for (size_t i = 0; i < sizeof block; i++) {
        inner[i] = block[i] ^ 0x36;
        outer[i] = block[i] ^ 0x5c;
    }
    sha256_init(&sha);
    sha256_add(&sha, inner, sizeof inner);
    sha256_add(&sha, data, length);
    sha256_end(&sha, digest);
    sha256_init(&sha);
    sha256_add(&sha, outer, sizeof outer);
    sha256_add(&sha, digest, SHA256_SIZE);
    sha256_end(&sha, digest);
}

bool sha256_same(const unsigned char a[SHA256_SIZE], const unsigned char b[SHA256_SIZE])
{
    unsigned char difference = 0;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        difference |= (unsigned char)(a[i] ^ b[i]);
    }
    return difference == 0;
}
