/* Reads XML one event after the other, out of memory and without making a tree: what feeds, arXiv's
 * answers, Poppler's output and office documents need, and not more. Elements must close in the
 * order they were opened; nesting is bounded; the only entities are the five of XML and numbers. A
 * document type is passed over, so nothing that it declares can grow or reach out.
 *
 * Names, values and texts are slices of the input, still escaped; xml_append() writes what they
 * stand for. */
#ifndef FORAGE_HTML_XML_H
#define FORAGE_HTML_XML_H

#include "core/buf.h"
#include "core/limits.h"
#include "text/slice.h"

#include <stdbool.h>
#include <stddef.h>

enum xml_event {
    XML_START, /* `name` and the attributes; an empty element has its XML_END too */
    XML_END,   /* `name` */
    XML_TEXT,  /* `text`, which is `literal` when it was a CDATA section */
    XML_DONE,
    XML_BROKEN, /* `problem` says why, and nothing comes any more */
};

struct xml_reader {
    struct slice name;
    struct slice text;
    bool literal;
    struct {
        struct slice name;
        struct slice value;
    } attributes[LIMIT_XML_ATTRIBUTES];
    size_t attribute_count;
    size_t depth;        /* elements that are open, the one that just started included */
    const char *token;   /* where the event begins in the input */
    const char *at;      /* where the next one will */
    const char *problem; /* of XML_BROKEN */
    const char *end;
    struct slice open[LIMIT_XML_DEPTH];
    bool empty; /* the element that just started ends at once */
    bool rooted;
};

/* The input must be UTF-8 and outlive the reader. */
void xml_begin(struct xml_reader *reader, const char *text, size_t length);
enum xml_event xml_next(struct xml_reader *reader);
/* The same inside the element that is open at `depth`, whose end is XML_DONE. */
enum xml_event xml_inside(struct xml_reader *reader, size_t depth);
/* After XML_START: goes on behind the element's end. Its text, and that of all within, is appended
 * to `text`, which may be NULL; `inside` (or NULL) gets the markup between its tags. False when the
 * input is broken. */
bool xml_take(struct xml_reader *reader, struct buf *text, struct slice *inside);

/* An attribute of the element that just started; false when it has none of that name. */
bool xml_attribute(const struct xml_reader *reader, const char *name, struct slice *value);
/* Names without the prefix of their namespace: of the event, and of an attribute, where one with a
 * prefix comes before one without. */
struct slice xml_local(const struct xml_reader *reader);
bool xml_local_attribute(const struct xml_reader *reader, const char *name, struct slice *value);
/* Appends a slice with its entities resolved; one that is unknown stays as it is. */
int xml_append(struct buf *out, struct slice slice);

#endif
