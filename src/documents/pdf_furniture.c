/* Running heads and page numbers: rows at the top or bottom of a page that other pages repeat at
 * the same height, digits aside, and what stands alone at such a height. */
#include "documents/pdf_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ROWS_AT_EDGE      2    /* of a page that may be furniture, at each end */
#define EDGE_SHARE        0.14 /* of a page's height that they stand in */
#define REPEATS_ON_PAGES  3
#define NUMBERS_ON_PAGES  2
#define SAME_HEIGHT       4.0 /* points */
#define APART             0.8 /* of the next row, in sizes */
#define PAGE_NUMBER_BYTES 16
#define ROW_BYTES         200 /* of a row's text that is compared */
#define HEIGHTS           256 /* steps of SAME_HEIGHT */

struct edge_row {
    const struct pdf_row *row;
    char text[ROW_BYTES];
    size_t page;
    double place; /* of its middle: from the top, or negative from the bottom */
    bool apart;   /* the outermost row of its page, and away from the next one */
    bool repeated;
};

/* "12", "- 12 -", "iv", "Page 3 of 9" */
static bool is_page_number(const char *text)
{
    if (strlen(text) > PAGE_NUMBER_BYTES) {
        return false;
    }
    const char *at = text + (strncasecmp(text, "page", 4) == 0 ? 4 : 0);
    if (strspn(at, "0123456789 -–—/|.of") == strlen(at)) {
        return strpbrk(at, "0123456789") != NULL;
    }
    return strspn(at, "ivxlc") == strlen(at);
}

static const char DIGITS[] = "0123456789";

/* Compares two texts as if all their numbers were the same. */
static int compare_without_digits(const char *a, const char *b)
{
    for (;; a++, b++) {
        if (*a && *b && strchr(DIGITS, *a) && strchr(DIGITS, *b)) {
            a += strspn(a, DIGITS) - 1;
            b += strspn(b, DIGITS) - 1;
        } else if (*a != *b || !*a) {
            return (int)(unsigned char)*a - (int)(unsigned char)*b;
        }
    }
}

/* The height that an edge stands at, in steps. */
static int step_of(const struct edge_row *edge)
{
    double step = edge->place / SAME_HEIGHT;
    return step > HEIGHTS ? HEIGHTS : step < -HEIGHTS ? -HEIGHTS : (int)floor(step);
}

static int compare_edges(const void *left, const void *right)
{
    const struct edge_row *a = left;
    const struct edge_row *b = right;
    int order = compare_without_digits(a->text, b->text);
    order = order ? order : step_of(a) - step_of(b);
    return order ? order : a->page < b->page ? -1 : a->page > b->page;
}

/* Whether two rows of different pages say the same, or count the pages. */
static bool say_the_same(const struct edge_row *a, const struct edge_row *b)
{
    if (compare_without_digits(a->text, b->text) != 0 || step_of(a) != step_of(b)) {
        return false;
    }
    if (strcmp(a->text, b->text) == 0) {
        return a->page != b->page;
    }
    const char *first = a->text + strcspn(a->text, DIGITS);
    const char *second = b->text + strcspn(b->text, DIGITS);
    while (*first && *second) {
        char *after;
        char *after_second;
        unsigned long from = strtoul(first, &after, 10);
        if (strtoul(second, &after_second, 10) - from == b->page - a->page) {
            return true;
        }
        first = after + strcspn(after, DIGITS);
        second = after_second + strcspn(after_second, DIGITS);
    }
    return false;
}

static void add_edge(struct edge_row *edge, const struct pdf_row *row, size_t number, double height,
                     bool apart)
{
    double middle = (row->top + row->bottom) / 2;
    size_t length = 0;
    edge->row = row;
    edge->page = number;
    edge->place = middle < height / 2 ? middle : middle - height;
    edge->apart = apart;
    edge->repeated = false;
    for (size_t i = 0; i < row->count && length + row->words[i]->length + 2 < ROW_BYTES; i++) {
        edge->text[length] = ' ';
        length += i > 0;
        memcpy(edge->text + length, row->words[i]->text, row->words[i]->length);
        length += row->words[i]->length;
    }
    edge->text[length] = '\0';
}

/* The rows of a page that may be furniture, at most twice ROWS_AT_EDGE. */
static int find_edges(struct arena *arena, const struct pdf_page *page, size_t number,
                      struct edge_row *edges, size_t *count)
{
    struct pdf_word **words = arena_alloc(arena, (page->count + 1) * sizeof(struct pdf_word *));
    size_t rows = 0;
    size_t kept = 0;
    if (!words) {
        return ERR_NOMEM;
    }
    double edge = page->height * EDGE_SHARE;
    for (size_t i = 0; i < page->count; i++) {
        struct pdf_word *word = &page->words[i];
        double middle = (word->top + word->bottom) / 2;
        if (!(word->flags & PDF_TURNED) && (middle < edge || middle > page->height - edge)) {
            words[kept++] = word;
        }
    }
    struct pdf_row *found = pdf_rows(arena, words, kept, &rows);
    if (!found) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < rows; i++) {
        bool above = found[i].bottom < page->height / 2;
        bool first = i < ROWS_AT_EDGE && above;
        bool last = i + ROWS_AT_EDGE >= rows && !above;
        double space = above ? (i + 1 < rows ? found[i + 1].top - found[i].bottom : 1e9)
                             : (i > 0 ? found[i].top - found[i - 1].bottom : 1e9);
        bool apart = (above ? i == 0 : i + 1 == rows) && space > APART * found[i].size;
        if (first || last) {
            add_edge(&edges[(*count)++], &found[i], number, page->height, apart);
        }
    }
    return OK;
}

static void drop(const struct edge_row *edge)
{
    for (size_t i = 0; i < edge->row->count; i++) {
        edge->row->words[i]->flags |= PDF_FURNITURE;
    }
}

/* How many rows that repeat stand at each height of a page. */
struct heights {
    unsigned rows[2][HEIGHTS]; /* from the top, and from the bottom */
};

static unsigned *height_of(struct heights *heights, const struct edge_row *edge)
{
    int step = abs(step_of(edge));
    return &heights->rows[edge->place < 0][step < HEIGHTS ? step : HEIGHTS - 1];
}

static void mark_repeated(struct edge_row *edges, size_t count)
{
    for (size_t first = 0; first < count;) {
        size_t next = first + 1;
        while (next < count && say_the_same(&edges[next - 1], &edges[next])) {
            next++;
        }
        for (size_t i = first; i < next; i++) {
            edges[i].repeated = next - first >= REPEATS_ON_PAGES;
        }
        first = next;
    }
}

int pdf_find_furniture(struct arena *arena, struct pdf_text *text)
{
    size_t count = 0;
    struct edge_row *edges =
        arena_alloc(arena, (text->page_count * 2 * ROWS_AT_EDGE + 1) * sizeof *edges);
    if (!edges) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < text->page_count && text->page_count > 1; i++) {
        int status = find_edges(arena, &text->pages[i], i, edges, &count);
        if (status != OK) {
            return status;
        }
    }
    struct heights repeats = {0};
    struct heights numbers = {0};
    qsort(edges, count, sizeof *edges, compare_edges);
    mark_repeated(edges, count);
    for (size_t i = 0; i < count; i++) {
        *height_of(&repeats, &edges[i]) += edges[i].repeated;
        *height_of(&numbers, &edges[i]) += is_page_number(edges[i].text);
    }
    for (size_t i = 0; i < count; i++) {
        /* The names of chapters change, and Roman numbers do; where they stand tells. */
        bool numbered =
            is_page_number(edges[i].text) && *height_of(&numbers, &edges[i]) >= NUMBERS_ON_PAGES;
        bool known = *height_of(&repeats, &edges[i]) >= REPEATS_ON_PAGES;
        if (edges[i].repeated || (edges[i].apart && (numbered || known))) {
            drop(&edges[i]);
        }
    }
    return OK;
}
