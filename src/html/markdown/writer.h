/* What the parts of the Markdown writer share. Inline text is gathered in `line`; at the end of a
 * block flush_block() puts it out, each line behind the prefix that quotes and lists have built up.
 *
 *   writer.c    begins, walks the tree, puts out lines and paragraphs, ends
 *   inline.c    text, escapes, links, code spans
 *   emphasis.c  emphasis that CommonMark reads as it was meant
 *   blocks.c    headings, quotes, callouts, lists
 *   language.c  what language code is in
 *   tabs.c      panels of tabs, each under the words of its tab
 *   marks.c     links and buttons of headings that nobody reads
 *   reviews.c   what customers say of a product, behind the text
 *   table.c, code.c, media.c, math.c, footnote.c (with notes.c)   one kind of thing each */
#ifndef FORAGE_HTML_MARKDOWN_WRITER_H
#define FORAGE_HTML_MARKDOWN_WRITER_H

#include "html/dom.h"
#include "html/page.h"
#include "text/url.h"

enum mode {
    MODE_BLOCKS, /* paragraphs and all */
    MODE_LINE,   /* one line: what were blocks are parted by spaces */
    MODE_CELL,   /* one cell of a table: what were blocks are parted by <br> */
};

/* The blank space that is due before the next block. */
enum gap { GAP_NONE, GAP_LINE, GAP_BLANK };

enum format_kind {
    FORMAT_STRONG,
    FORMAT_EMPHASIS,
    FORMAT_DELETED,
    FORMAT_SUPER,
    FORMAT_SUB,
    FORMAT_LINK,
};

struct inline_format {
    enum format_kind kind;
    bool written; /* its opening stands in `line`, before `start` */
    bool over;    /* a link that had its block */
    size_t start;
    size_t pair;     /* of an emphasis: its place in the writer's pairs */
    const char *url; /* of a link */
};

#define MOST_FORMATS 64

/* Notes that the page refers to. */
struct markdown_note {
    lxb_dom_node_t *definition;
    lxb_dom_node_t *last; /* a sibling of it: the end of what belongs to it */
    size_t label;
    bool used;
};

/* What a tab shows, and the tab. */
struct panel {
    lxb_dom_node_t *node, *tab;
};

struct writer {
    struct page *page;
    struct arena *arena;
    struct buf *out;
    struct url base;
    bool has_base;

    struct buf line;
    bool space;                   /* white space is due before the next text */
    bool break_due;               /* in a cell: a block ended */
    size_t closed_at;             /* where in `line` an emphasis ended last, */
    enum format_kind closed_kind; /* and which */
    size_t closed_pair;
    struct buf pairs;          /* where the delimiters of the line are */
    size_t links, link_number; /* how many there were; the one that is open, or 0 */
    size_t code_at, code_end;  /* where in `line` the last code span is */
    size_t brackets;           /* "[" in `line` that are text and stand open */
    enum mode mode;
    struct inline_format formats[MOST_FORMATS];
    size_t format_base, format_count, format_excess;

    struct buf prefix; /* of every line */
    struct buf first;  /* of the next line instead, when a list item begins there */
    enum gap gap;
    size_t items;        /* list items around */
    size_t block_at;     /* where in `out` the last paragraph begins, for what may take it back */
    size_t block_length; /* its length; 0: the last block was no paragraph */
    lxb_dom_node_t *last_text; /* that was written into a paragraph */
    const char *title;         /* of the page, which its result names apart from the text */
    bool title_done;           /* the page's own heading with that title was passed over */
    bool force_display;        /* formulas here are set apart, whatever they say */
    bool in_review;            /* headings here are titles of reviews, not of the page's parts */

    const lxb_dom_node_t *figure; /* that the last picture was in, */
    const char *figure_alt;       /* and what it said of itself */
    const char *picture;          /* the address of the last picture, */
    size_t picture_end;           /* and where its text ends */
    size_t parsed;                /* formulas that had to be parsed apart */

    const lxb_dom_node_t *boxed_quote; /* that a box around it is the quote of */

    struct markdown_note *notes;
    size_t note_count;
    struct panel *panels;
    size_t panel_count;
};

/* What class names around code mean: the classes of data/page-classes.txt. */
enum code_word {
    CODE_NUMBER = 1,       /* the number of a line */
    CODE_LINE = 2,         /* a line, whatever element it is */
    CODE_TEXT = 4,         /* the part of an editor that holds the code and nothing else */
    CODE_EDITOR = 8,       /* an editor */
    CODE_BLOCK = 16,       /* a block, though it is no <pre> */
    CODE_INNER_BLOCK = 32, /* the same of a <code> */
    CODE_LINES = 64,       /* a block, when it is made of lines */
};

/* What attributes say of the language of code: the classes of data/page-classes.txt. */
enum code_attribute {
    CODE_ATTRIBUTE_NAME = 1,  /* the language */
    CODE_ATTRIBUTE_KNOWN = 2, /* the language, or something else */
    CODE_ATTRIBUTE_WORDS = 4, /* what would be its class */
    CODE_ATTRIBUTE_JSON = 8,
};

/* What elements of MathML are: the classes of data/math-symbols.txt. */
enum math_element {
    MATH_LETTERS = 1,
    MATH_TEXT = 2,
    MATH_ROOT = 4,
    MATH_TABLE = 8,
    MATH_FENCED = 16,
    MATH_COMPOSED = 32, /* of two or three parts */
    MATH_NOTHING = 64,
    MATH_STRUT = 128, /* MathJax: holds a place */
    MATH_BOX = 256,   /* MathJax: is around a part */
};

/* ---- writer.c ---- */

void write_node(struct writer *writer, lxb_dom_node_t *node);
void write_children(struct writer *writer, lxb_dom_node_t *node);
/* The children as paragraphs of their own. */
void write_block(struct writer *writer, lxb_dom_node_t *node);
/* The same, each line behind a prefix: `first` on the first one, `rest` on those after. */
void write_prefixed(struct writer *writer, lxb_dom_node_t *node, const char *first,
                    const char *rest);

/* The children in an emphasis. */
void write_format(struct writer *writer, lxb_dom_node_t *node, enum format_kind kind);

/* A text of its own, gathered aside from what is being written. */
struct aside {
    struct buf line;
    bool space, break_due;
    enum mode mode;
    size_t format_base, format_count, closed_at;
    struct buf pairs;
    size_t link_number, code_end, brackets;
};

void aside_begin(struct writer *writer, struct aside *aside, enum mode mode);
/* Ends it: the text, trimmed, in the arena. */
const char *aside_end(struct writer *writer, struct aside *aside, size_t *length);

/* Ends the paragraph that is being gathered. */
void flush_block(struct writer *writer);
/* Writes a block that is already Markdown, line by line, as it is. */
void output_block(struct writer *writer, const char *text, size_t length);
/* The same for what was put together in a buffer, which is freed. */
void output_buf(struct writer *writer, struct buf *block);
/* The blank line that is due, now: before the prefix changes. */
void output_gap(struct writer *writer);
/* Adds to what begins each line: `first` on the next one, `rest` on those after. Returns what
 * prefix_pop() needs. */
struct prefix_mark {
    size_t prefix, first;
};
struct prefix_mark prefix_push(struct writer *writer, const char *first, const char *rest);
void prefix_pop(struct writer *writer, struct prefix_mark mark);
/* Takes the last paragraph back when it is `text`, whatever its case. */
bool output_take_back(struct writer *writer, const char *text);

/* ---- inline.c ---- */

void inline_text(struct writer *writer, const char *text, size_t length);
/* Markdown that is ready, as one word. */
void inline_raw(struct writer *writer, const char *text, size_t length);
void inline_break(struct writer *writer);
void inline_code(struct writer *writer, const char *text, size_t length);
/* Whether a character is never visible and only there to mislead or to steer a browser's line
 * breaks; `length` gets its bytes. */
bool inline_is_unseen(const char *text, size_t left, size_t *length);

/* ---- emphasis.c ---- */

void format_open(struct writer *writer, enum format_kind kind, const char *url);
void format_close(struct writer *writer);
/* Writes the openings that are due, before a word. */
void format_begin(struct writer *writer);
/* Closes every open format at the end of a paragraph, so that the next one opens them again. */
void format_suspend(struct writer *writer);
/* The line is over: what CommonMark would not read as emphasis becomes tags. */
void format_settle(struct writer *writer);

/* ---- one kind of thing each ---- */

/* Whether nothing of an element is written where it stands. */
static inline bool node_is_left_out(const lxb_dom_node_t *node)
{
    return (node_marks(node) & (NODE_DROPPED | NODE_HIDDEN | NODE_NOTE)) != 0;
}

void marks_drop(struct writer *writer);
/* Finds tabs and what they show (NODE_PANEL). */
void tabs_find(struct writer *writer);
/* The words of a panel's tab, as a line of its own. */
void write_panel_title(struct writer *writer, const lxb_dom_node_t *node);
void write_heading(struct writer *writer, lxb_dom_node_t *node);
void write_quote(struct writer *writer, lxb_dom_node_t *node);
/* Whether a box quotes, though it is no <blockquote>. */
bool quote_is_box(const lxb_dom_node_t *node);
void write_definitions(struct writer *writer, lxb_dom_node_t *node);
void write_list(struct writer *writer, lxb_dom_node_t *node);
void write_item(struct writer *writer, lxb_dom_node_t *node);
void write_table(struct writer *writer, lxb_dom_node_t *node);
bool write_callout(struct writer *writer, lxb_dom_node_t *node);
void write_code_block(struct writer *writer, lxb_dom_node_t *node);
void write_code_span(struct writer *writer, lxb_dom_node_t *node);
/* Whether an element that is no <pre> stands for a block of code. */
bool code_is_block(lxb_dom_node_t *node);
/* Whether the text counts up and says nothing else: the numbers of lines. How many there are. */
size_t code_counts(const lxb_dom_node_t *node);

/* The name of a programming language as fences write it; NULL when the word means none. */
const char *language_by_name(const char *word, size_t length);
/* The language of a block of code; NULL when nothing tells. */
const char *language_of(struct arena *arena, lxb_dom_node_t *node);
/* Whether a text is nothing but what stands beside code on pages: "C++ Copy". `language` gets one
 * that it names, unless it has one. */
bool language_is_label(const char *text, size_t length, const char **language);

void write_image(struct writer *writer, lxb_dom_node_t *node);
void write_caption(struct writer *writer, lxb_dom_node_t *node);
void write_picture(struct writer *writer, lxb_dom_node_t *node);
/* Whether the element frames a picture: choosing may have dropped it for its words, the picture
 * stays. */
bool media_is_frame(const lxb_dom_node_t *node);
void write_frame(struct writer *writer, lxb_dom_node_t *node);
void write_video(struct writer *writer, lxb_dom_node_t *node);
/* Whether an element of the page's own making shows a film or a picture; then it was written. */
bool write_player(struct writer *writer, lxb_dom_node_t *node);
void write_link(struct writer *writer, lxb_dom_node_t *node);
/* What customers say of a product. A status. */
MUST_CHECK int write_reviews(struct writer *writer);
/* The absolute address of a reference on this page, without what only tracks; NULL when it leads
 * nowhere that a reader can follow. "#..." stays as it is. */
const char *link_resolve(struct writer *writer, const char *reference);
/* Whether the element is a formula; then it was written. */
bool write_math(struct writer *writer, lxb_dom_node_t *node);

void footnotes_find(struct writer *writer);
void write_note_reference(struct writer *writer, lxb_dom_node_t *node);
void write_notes(struct writer *writer);

#endif
