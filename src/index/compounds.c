/* An entry is a mark, which says which way it is written, and the term. */
#include "index/compounds.h"

#include "core/status.h"
#include "index/order.h"

#include <stdlib.h>
#include <string.h>

#define STRAIGHT '>'
#define TURNED   '<'

static void turn(char *to, const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        to[i] = from[length - 1 - i];
    }
}

size_t compounds_entry(char *entry, const char *part, size_t length, bool ending)
{
    if (length < COMPOUNDS_LETTERS || length >= DICTIONARY_MOST_TERM) {
        return 0;
    }
    entry[0] = ending ? TURNED : STRAIGHT;
    if (ending) {
        turn(entry + 1, part, length);
    } else {
        memcpy(entry + 1, part, length);
    }
    return length + 1;
}

size_t compounds_term(char *text, const char *entry, size_t length)
{
    length -= length > 0;
    if (length > 0 && entry[0] == TURNED) {
        turn(text, entry + 1, length);
    } else {
        memcpy(text, entry + 1, length);
    }
    text[length] = '\0';
    return length;
}

int compounds_add(struct compounds *compounds, const char *text, size_t length)
{
    char entry[DICTIONARY_MOST_TERM];
    for (int ending = 0; ending <= 1 && length >= 2 * COMPOUNDS_LETTERS - 1; ending++) {
        size_t entry_length = compounds_entry(entry, text, length, ending == 1);
        if (entry_length > 0 &&
            symbols_add(&compounds->entries, entry, entry_length) == SYMBOL_NONE) {
            return ERR_NOMEM;
        }
    }
    return OK;
}

int compounds_write(const struct compounds *compounds, struct dictionary_writer *writer)
{
    struct ordered *entries = order_symbols(&compounds->entries);
    for (uint32_t i = 0; i < compounds->entries.count && entries; i++) {
        dictionary_add(writer, entries[i].text, entries[i].length, NULL);
    }
    free(entries);
    return entries ? OK : ERR_NOMEM;
}

void compounds_done(struct compounds *compounds)
{
    symbols_done(&compounds->entries);
}
