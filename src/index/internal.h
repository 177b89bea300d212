/* What the parts of the index share: index.c keeps it, search.c and match.c search it. */
#ifndef FORAGE_INDEX_INTERNAL_H
#define FORAGE_INDEX_INTERNAL_H

#include "index/builder.h"
#include "index/view.h"

struct index {
    struct view view;
    struct builder *builder;    /* what came since the last index_settle() */
    struct view_keeper *keeper; /* of what is on the shelf; NULL: nothing is */
};

#endif
