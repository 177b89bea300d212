/* Sharing a room fairly: nobody gets more than he needs, and what the modest leave goes to the
 * others in equal parts. Pure. */
#ifndef FORAGE_WEBSEARCH_SHARE_H
#define FORAGE_WEBSEARCH_SHARE_H

#include <stddef.h>

/* Fills `shares`; their sum is at most `room`. */
void share_fairly(const size_t *needs, size_t count, size_t room, size_t *shares);

#endif
