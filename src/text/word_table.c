/* Looking words up in generated tables: by hash where whole words count, by halves where an entry
 * may be the beginning of a text. */
#include "text/word_table.h"

#include <string.h>

static unsigned char folded(const struct word_table *table, char letter)
{
    unsigned char byte = (unsigned char)letter;
    return table->fold && byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

/* The order of an entry and of as many bytes of a text: below, at or above 0. */
static int compare(const struct word_table *table, const struct word_entry *entry, const char *text,
                   size_t length)
{
    const char *known = table->text + entry->at;
    if (!table->fold) {
        return memcmp(known, text, length);
    }
    for (size_t i = 0; i < length; i++) {
        int order = (unsigned char)known[i] - folded(table, text[i]);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

static const struct word_entry *find(const struct word_table *table, const char *word,
                                     size_t length)
{
    uint32_t hash = 0x811c9dc5; /* FNV-1a, as in scripts/tables.py */
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ folded(table, word[i])) * 16777619u;
    }
    for (uint32_t slot = hash & table->mask; table->slots[slot] != 0;
         slot = (slot + 1) & table->mask) {
        const struct word_entry *entry = &table->entries[table->slots[slot] - 1];
        if (entry->length == length && compare(table, entry, word, length) == 0) {
            return entry;
        }
    }
    return NULL;
}

/* Most words that are asked for are in no table, and have a length that no word with their first
 * letter has. */
static bool may_hold(const struct word_table *table, const char *word, size_t length)
{
    size_t counted = length < WORD_LETTERS ? length : WORD_LETTERS - 1;
    return length > 0 && (table->lengths[*word & (WORD_LETTERS - 1)] >> counted & 1) != 0;
}

uint32_t words_value(const struct word_table *table, const char *word, size_t length)
{
    if (!may_hold(table, word, length)) {
        return 0;
    }
    const struct word_entry *entry = find(table, word, length);
    return entry ? entry->value : 0;
}

const char *words_text(const struct word_table *table, const char *word, size_t length)
{
    const struct word_entry *entry = find(table, word, length);
    return entry ? table->text + entry->value : NULL;
}

/* No entry begins with an open one (the build checks that), so the last entry that is not behind
 * `text` in the order of bytes is the only one that can fit. */
uint32_t words_match(const struct word_table *table, const char *text, size_t length)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct word_entry *entry = &table->entries[middle];
        size_t common = entry->length < length ? entry->length : length;
        int order = compare(table, entry, text, common);
        bool behind = order > 0 || (order == 0 && entry->length > length);
        low = behind ? low : middle + 1;
        high = behind ? middle : high;
    }
    if (low == 0) {
        return 0;
    }
    const struct word_entry *entry = &table->entries[low - 1];
    bool fits = entry->open ? entry->length <= length : entry->length == length;
    return fits && compare(table, entry, text, entry->length) == 0 ? entry->value : 0;
}
