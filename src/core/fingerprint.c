/* HMAC-SHA-256 with a key of the process. */
#include "core/fingerprint.h"

#include "core/id.h"
#include "core/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char current[SHA256_SIZE];
static bool known;

void fingerprint_set_key(const unsigned char key[SHA256_SIZE])
{
    pthread_mutex_lock(&lock);
    memcpy(current, key, SHA256_SIZE);
    known = true;
    pthread_mutex_unlock(&lock);
}

static void make_digest(const void *data, size_t length, unsigned char digest[SHA256_SIZE])
{
    unsigned char key[SHA256_SIZE];
    pthread_mutex_lock(&lock);
    if (!known) {
        known = id_random(current, sizeof current) == OK;
    }
    memcpy(key, current, SHA256_SIZE);
    pthread_mutex_unlock(&lock);
    sha256_hmac(key, sizeof key, data, length, digest);
}

const char *fingerprint(const char *text, size_t length, char out[FINGERPRINT_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    make_digest(text, length, digest);
    for (size_t i = 0; i < FINGERPRINT_SIZE / 2; i++) {
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    }
    return out;
}
