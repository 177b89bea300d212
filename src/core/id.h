/* Identifiers: short ones for request ids, unguessable ones for what must not be guessed. */
#ifndef FORAGE_CORE_ID_H
#define FORAGE_CORE_ID_H

#include <stddef.h>

#define ID_SIZE        17 /* 16 hexadecimal digits and a NUL */
#define ID_SECRET_SIZE 33 /* 32 hexadecimal digits and a NUL */

/* Unique within the process and unlikely to repeat across processes; cheap. */
void id_make(char out[ID_SIZE]);
/* 128 bits from the system's generator. A status. */
int id_make_secret(char out[ID_SECRET_SIZE]);
/* Fills `out` with random bytes from the system. A status. */
int id_random(void *out, size_t length);

#endif
