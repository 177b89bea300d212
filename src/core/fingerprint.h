/* Fingerprints of private text: the same text gives the same one, and without the key nobody can
 * tell which text it was, nor try likely ones. For logs. */
#ifndef FORAGE_CORE_FINGERPRINT_H
#define FORAGE_CORE_FINGERPRINT_H

#include "core/sha256.h"

#include <stddef.h>

#define FINGERPRINT_SIZE 17 /* 16 hexadecimal digits and a NUL */

/* The key of this process and of those that share a store with it. Without one, a random key that
 * ends with the process. */
void fingerprint_set_key(const unsigned char key[SHA256_SIZE]);
/* Returns `out`. */
const char *fingerprint(const char *text, size_t length, char out[FINGERPRINT_SIZE]);

#endif
