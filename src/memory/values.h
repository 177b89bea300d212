/* Cuts what is imported into JSON values without holding all of it: one value on each line, the
 * items of an array, or the items of arrays that are members of one object ({"results": [...]}).
 * Which of these it is shows in the first bytes. A value is cut out, not checked: whoever takes it
 * parses it. Bytes may come in any pieces. */
#ifndef FORAGE_MEMORY_VALUES_H
#define FORAGE_MEMORY_VALUES_H

#include "core/buf.h"

#include <stdbool.h>

struct values_piece {
    const char *data;
    size_t length;
    size_t number; /* of its line, or of the item, from 1 */
    bool is_item;
};

/* Anything but OK ends the cutting and is what values_feed() returns. */
typedef int (*values_take)(void *context, const struct values_piece *piece);

enum values_state {
    VALUES_START,   /* nothing but white space yet */
    VALUES_FIRST,   /* in the first object, which may be a line, or hold arrays of items */
    VALUES_LINES,   /* each line is a value */
    VALUES_SPREAD,  /* each value may go over several lines */
    VALUES_ITEMS,   /* in an array of items */
    VALUES_MEMBERS, /* in the object around it, between its arrays of items */
    VALUES_AFTER,   /* behind all of it */
};

struct values {
    values_take take;
    void *context;
    enum values_state state;
    struct buf partial; /* of a value whose end has not come yet */
    size_t line;        /* that the next byte is on, from 1 */
    size_t start;       /* the line that the value at hand begins on */
    size_t items;       /* that were cut out */
    /* Where the next byte stands. */
    size_t depth;
    bool in_string, escaped;
    char last;   /* the byte before that is no white space */
    bool spread; /* the first value goes over several lines */
    /* In an object around arrays of items. */
    bool wrapped, is_key;
    char key[24];
    size_t key_length;
    bool after_comma;    /* an item must come */
    const char *problem; /* with ERR_INVALID: what is wrong */
};

void values_init(struct values *values, values_take take, void *context);
void values_done(struct values *values);
/* OK; ERR_INVALID with `problem`; ERR_LIMIT: a value is longer than may be; ERR_NOMEM; what the
 * taker returned. */
int values_feed(struct values *values, const char *data, size_t length);
/* There is no more. */
int values_end(struct values *values);

#endif
