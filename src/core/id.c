/* Identifiers and fingerprints. A cheap identifier mixes a counter with a random start, so that two
 * look unlike each other in a log but cost no system call. A fingerprint is HMAC-SHA-256 with a key
 * of the process. */
#include "core/id.h"

#include "core/clock.h"
#include "core/status.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

static const char DIGITS[] = "0123456789abcdef";

static pthread_once_t seeded = PTHREAD_ONCE_INIT;
static _Atomic uint64_t counter;

static void to_hex(const unsigned char *bytes, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = DIGITS[bytes[i] >> 4];
        out[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    out[2 * count] = '\0';
}

int id_random(void *out, size_t length)
{
    unsigned char *bytes = out;
    while (length) {
        ssize_t got = getrandom(bytes, length, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return ERR_IO;
        }
        bytes += got;
        length -= (size_t)got;
    }
    return OK;
}

static void seed(void)
{
    uint64_t start = (uint64_t)clock_now_us();
    uint64_t random = 0;
    if (id_random(&random, sizeof random) == OK) {
        start ^= random;
    }
    atomic_store(&counter, start);
}

/* The finaliser of splitmix64: neighbouring counters give unlike ids, and no two the same. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void id_make(char out[ID_SIZE])
{
    pthread_once(&seeded, seed);
    uint64_t value = mix(atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed));
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(value >> (56 - 8 * i));
    }
    to_hex(bytes, sizeof bytes, out);
}

int id_make_secret(char out[ID_SECRET_SIZE])
{
    unsigned char bytes[16];
    int status = id_random(bytes, sizeof bytes);
    to_hex(bytes, sizeof bytes, out);
    return status;
}

/* ---- fingerprints ---- */

static pthread_mutex_t key_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char process_key[SHA256_SIZE];
static bool key_known;

void fingerprint_set_key(const unsigned char key[SHA256_SIZE])
{
    pthread_mutex_lock(&key_lock);
    memcpy(process_key, key, SHA256_SIZE);
    key_known = true;
    pthread_mutex_unlock(&key_lock);
}

static void make_digest(const void *data, size_t length, unsigned char digest[SHA256_SIZE])
{
    unsigned char key[SHA256_SIZE];
    pthread_mutex_lock(&key_lock);
    if (!key_known) {
        key_known = id_random(process_key, sizeof process_key) == OK;
    }
    memcpy(key, process_key, SHA256_SIZE);
    pthread_mutex_unlock(&key_lock);
    sha256_hmac(key, sizeof key, data, length, digest);
}

const char *fingerprint(const char *text, size_t length, char out[FINGERPRINT_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    make_digest(text, length, digest);
    to_hex(digest, FINGERPRINT_SIZE / 2, out);
    return out;
}
