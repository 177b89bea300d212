/* Names that the program makes up: short ones for requests, unguessable ones for what must not be
 * guessed, and fingerprints that stand for private text in a log. */
#ifndef FORAGE_CORE_ID_H
#define FORAGE_CORE_ID_H

#include "core/sha256.h"
#include "core/status.h"

#include <stddef.h>

#define ID_SIZE          17 /* 16 hexadecimal digits and a NUL */
#define ID_SECRET_SIZE   33 /* 32 hexadecimal digits and a NUL */
#define FINGERPRINT_SIZE 17 /* 16 hexadecimal digits and a NUL */

/* Unique within the process and unlikely to repeat across processes; cheap. */
void id_make(char out[ID_SIZE]);
/* 128 bits from the system's generator. */
MUST_CHECK int id_make_secret(char out[ID_SECRET_SIZE]);
/* Fills `out` with random bytes from the system. */
MUST_CHECK int id_random(void *out, size_t length);

/* The same text gives the same fingerprint, and without the key nobody can tell which text it was,
 * nor try likely ones. The key is of this process and of those that share a store with it; without
 * fingerprint_set_key() it is random and ends with the process. */
void fingerprint_set_key(const unsigned char key[SHA256_SIZE]);
/* Returns `out`. */
const char *fingerprint(const char *text, size_t length, char out[FINGERPRINT_SIZE]);

#endif
