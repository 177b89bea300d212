/* What the headings of a page say of its pieces: the path above each, which headings a question
 * asks for, and which sections a piece names. */
#include "core/hash.h"
#include "index/words.h"
#include "reader/focus_internal.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

#define TITLE_CHARS    100 /* of a heading in a path */
#define TITLE_WORDS    8   /* of one that a piece may name; of a longer one these */
#define LEAST_LETTERS  4   /* of a name */
#define MOST_NAMED     16  /* sections by one piece */
#define MOST_NAMESAKES 6

/* ---- paths ---- */

/* The path of a heading: those above it, the highest first. */
static int name_sections(struct focus *focus)
{
    size_t above[8] = {0}; /* number + 1 of the last heading of each level */
    focus->sections =
        arena_zalloc(focus->arena, (focus->heading_count + 1) * sizeof *focus->sections);
    if (!focus->sections) {
        return ERR_NOMEM;
    }
    focus->sections[focus->heading_count].path = "";
    for (size_t i = 0; i < focus->heading_count; i++) {
        const struct paging_heading *heading = &focus->headings[i];
        size_t parent = 0;
        for (int level = 1; level < heading->level; level++) {
            parent = above[level] ? above[level] : parent;
        }
        memset(above + heading->level, 0, sizeof above - (size_t)heading->level * sizeof *above);
        above[heading->level] = i + 1;
        const char *before = parent ? focus->sections[parent - 1].path : "";
        int kept = (int)text_prefix(heading->title, strlen(heading->title), TITLE_CHARS);
        focus->sections[i].path = arena_printf(focus->arena, "%s%s%.*s", before,
                                               *before ? " > " : "", kept, heading->title);
        if (!focus->sections[i].path) {
            return ERR_NOMEM;
        }
    }
    for (size_t i = 0; i < focus->heading_count; i++) {
        const char *path = focus->sections[i].path;
        focus->sections[i].path_chars = text_count(path, strlen(path));
    }
    return OK;
}

static int place_pieces(struct focus *focus)
{
    size_t section = focus->heading_count;
    size_t next = 0;
    focus->section_of = arena_alloc(focus->arena, (focus->count + 1) * sizeof *focus->section_of);
    if (!focus->section_of) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i <= focus->heading_count; i++) {
        focus->sections[i].first = NO_PIECE;
    }
    for (size_t i = 0; i < focus->count; i++) {
        while (next < focus->heading_count && focus->headings[next].start <= focus->pieces[i].at) {
            section = next++;
        }
        focus->section_of[i] = (uint32_t)section;
        if (focus->sections[section].first == NO_PIECE) {
            focus->sections[section].first = i;
        }
    }
    return OK;
}

/* ---- words ---- */

/* The words of a text as numbers; those that hardly carry meaning aside, where others are there. */
struct word_list {
    struct arena *arena;
    uint64_t *words;
    size_t count, capacity;
    bool with_stops;
};

static int take_word(void *context, const struct word *word)
{
    struct word_list *list = context;
    if (word->kind == WORD_WHOLE || word->kind == WORD_SINGLE ||
        (word->stop && !list->with_stops)) {
        return OK;
    }
    uint64_t *words =
        arena_grow(list->arena, list->words, list->count, &list->capacity, sizeof *words);
    if (!words) {
        return ERR_NOMEM;
    }
    list->words = words;
    list->words[list->count++] = hash_add(HASH_START, word->term, word->length);
    return OK;
}

static int list_words(struct focus *focus, const char *text, size_t length, bool with_stops,
                      struct word_list *list)
{
    *list = (struct word_list){.arena = focus->arena, .with_stops = with_stops};
    return words_each(focus->reader, text, length, focus->language, take_word, list);
}

/* ---- what the question asks for ---- */

static bool holds_all(const struct word_list *list, const struct word_list *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        size_t j = 0;
        while (j < list->count && list->words[j] != wanted->words[i]) {
            j++;
        }
        if (j == list->count) {
            return false;
        }
    }
    return wanted->count > 0;
}

/* The title without what stands in brackets, as "Ed Wood (film)" has it. */
static size_t bare_length(const char *title)
{
    size_t length = strcspn(title, "(");
    return length ? length : strlen(title);
}

static int compare_names(const void *left, const void *right)
{
    const struct section_name *a = left;
    const struct section_name *b = right;
    return a->number != b->number ? (a->number < b->number ? -1 : 1)
                                  : (a->section > b->section) - (a->section < b->section);
}

/* The number of some words that follow each other. */
static uint64_t number_of_words(const uint64_t *words, size_t count)
{
    return hash_add(HASH_START, words, count * sizeof *words);
}

static int look_at_titles(struct focus *focus)
{
    struct word_list question, title;
    int status = list_words(focus, focus->question, strlen(focus->question), true, &question);
    focus->names = arena_alloc(focus->arena, (focus->heading_count + 1) * sizeof *focus->names);
    status = focus->names ? status : ERR_NOMEM;
    for (size_t i = 0; i < focus->heading_count && status == OK; i++) {
        const char *text = focus->headings[i].title;
        size_t length = bare_length(text);
        status = list_words(focus, text, strlen(text), false, &title);
        focus->sections[i].asked = status == OK && holds_all(&question, &title);
        status = status == OK ? list_words(focus, text, length, true, &title) : status;
        if (status == OK && title.count && length >= LEAST_LETTERS &&
            focus->sections[i].first != NO_PIECE) {
            size_t words = title.count < TITLE_WORDS ? title.count : TITLE_WORDS;
            focus->names[focus->name_count++] = (struct section_name){
                number_of_words(title.words, words), (uint32_t)words, (uint32_t)i};
        }
    }
    if (status == OK) {
        qsort(focus->names, focus->name_count, sizeof *focus->names, compare_names);
    }
    return status;
}

int headings_find(struct focus *focus)
{
    int status = name_sections(focus);
    status = status == OK ? place_pieces(focus) : status;
    focus->reader = status == OK && focus->heading_count ? words_new() : NULL;
    if (status != OK || !focus->heading_count) {
        return status;
    }
    if (!focus->reader) {
        return ERR_NOMEM;
    }
    focus->language = words_guess(focus->reader, focus->text, focus->length);
    return look_at_titles(focus);
}

void headings_done(struct focus *focus)
{
    focus->reader = words_free(focus->reader);
}

/* ---- what a piece names ---- */

/* The first section of a name, in `names`, and how many others have it too; 0: there is none. */
static size_t find_name(const struct focus *focus, uint64_t number, size_t *first)
{
    size_t low = 0;
    size_t high = focus->name_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (focus->names[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *first = low;
    while (low < focus->name_count && focus->names[low].number == number) {
        low++;
    }
    return low - *first;
}

int headings_named(struct focus *focus, size_t piece,
                   int (*take)(struct focus *focus, size_t from, size_t to))
{
    const struct piece *from = &focus->pieces[piece];
    struct word_list list = {0};
    size_t taken = 0;
    int status = focus->name_count ? list_words(focus, focus->text + from->start,
                                                from->end - from->start, true, &list)
                                   : OK;
    for (size_t i = 0; i < list.count * TITLE_WORDS && status == OK && taken < MOST_NAMED; i++) {
        size_t at = i / TITLE_WORDS;
        size_t words = i % TITLE_WORDS + 1;
        size_t n = 0;
        size_t sections = at + words <= list.count
                              ? find_name(focus, number_of_words(list.words + at, words), &n)
                              : 0;
        /* A name that many have, as "Example" may be, leads nowhere. */
        for (size_t end = sections <= MOST_NAMESAKES ? n + sections : n;
             n < end && status == OK && taken < MOST_NAMED; n++) {
            const struct section_name *name = &focus->names[n];
            if (name->words == words && name->section != focus->section_of[piece]) {
                status = take(focus, piece, focus->sections[name->section].first);
                taken++;
            }
        }
    }
    return status;
}
