/* Writing all of something to a descriptor. */
#ifndef FORAGE_CORE_WRITE_ALL_H
#define FORAGE_CORE_WRITE_ALL_H

#include <stddef.h>

/* Writes every byte, whatever interrupts it. OK, or ERR_IO with errno saying why. */
int write_all(int fd, const char *data, size_t length);

#endif
