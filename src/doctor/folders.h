/* Looking at a folder that forage writes to. */
#ifndef FORAGE_DOCTOR_FOLDERS_H
#define FORAGE_DOCTOR_FOLDERS_H

#include "doctor/check.h"

struct folder {
    const char *path;
    int made;             /* so many of its last parts are made where they are missing */
    const char *variable; /* names it */
    bool private;         /* nobody else may look into it */
};

/* Says whether the folder can be used, or could be made. Makes nothing. */
void folders_look(struct look *look, const struct folder *folder);

#endif
