/* As water fills vessels: the level rises until the room is used up, and full vessels take no more.
 */
#include "websearch/share.h"

#include <stdbool.h>
#include <stdint.h>

/* Gives the unserved who need no more than the level what they need. False when there is none. */
static bool serve_modest(const size_t *needs, size_t count, size_t level, size_t *shares,
                         size_t *room, size_t *left)
{
    bool served = false;
    for (size_t i = 0; i < count; i++) {
        if (shares[i] == SIZE_MAX && needs[i] <= level) {
            shares[i] = needs[i];
            *room -= needs[i];
            (*left)--;
            served = true;
        }
    }
    return served;
}

void share_fairly(const size_t *needs, size_t count, size_t room, size_t *shares)
{
    size_t left = count;
    for (size_t i = 0; i < count; i++) {
        shares[i] = SIZE_MAX; /* unserved */
    }
    while (left && serve_modest(needs, count, room / left, shares, &room, &left)) {
    }
    for (size_t i = 0; i < count; i++) {
        if (shares[i] == SIZE_MAX) {
            shares[i] = room / left;
        }
    }
}
