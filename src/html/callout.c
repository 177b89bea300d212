/* Callouts: boxes that a page sets apart from its text as a note, a warning, an example. Choosing
 * keeps them, writing sets them as quotes of their kind. */
#include "html/callout.h"

#include "html/dom.h"
#include "tables.h"

#include <ctype.h>
#include <strings.h>

/* The kind in one word of a class: "note", "alert-note", "alert--note", "markdown-alert-note". */
static const char *kind_in_word(const char *word, size_t length)
{
    for (const char *const *kind = callout_kinds; *kind; kind++) {
        size_t size = strlen(*kind);
        if (length == size && strncasecmp(word, *kind, size) == 0) {
            return *kind;
        }
        if (length > size + 1 && strncasecmp(word + length - size, *kind, size) == 0 &&
            (word[length - size - 1] == '-' || word[length - size - 1] == '_')) {
            for (const char *const *box = callout_boxes; *box; box++) {
                if (strncasecmp(word, *box, strlen(*box)) == 0) {
                    return *kind;
                }
            }
        }
    }
    return NULL;
}

static const char *kind_of(lxb_dom_node_t *node)
{
    const char *words = dom_class(node);
    if (!dom_holds_any(words, callout_boxes)) {
        return NULL;
    }
    bool box = false;
    const char *kind = NULL;
    for (const char *at = words; *at;) {
        at += strspn(at, " \t\r\n\f");
        size_t length = strcspn(at, " \t\r\n\f");
        const char *found = length ? kind_in_word(at, length) : NULL;
        /* "hint alert-info": what names the box itself tells least. */
        kind = kind && strcmp(kind, "hint") != 0 ? kind : found ? found : kind;
        for (const char *const *word = callout_boxes; *word && !box; word++) {
            box = strncasecmp(at, *word, strlen(*word)) == 0;
        }
        at += length;
    }
    return box ? kind : NULL;
}

/* A box whose whole name is a kind, and that begins with that word: <div class="NOTE"><p>Note</p>.
 */
static const char *kind_by_name(lxb_dom_node_t *node, lxb_tag_id_t tag)
{
    const char *words = dom_class(node);
    size_t length = words ? strcspn(words, " ") : 0;
    if (!length || length > 12) {
        return NULL;
    }
    for (const char *const *kind = callout_kinds; *kind; kind++) {
        if (strlen(*kind) == length && strncasecmp(words, *kind, length) == 0) {
            char text[16];
            size_t begins = dom_collect(node, text, sizeof text);
            bool folded = tag == LXB_TAG_DETAILS;
            bool named = begins > length && strncasecmp(text, *kind, length) == 0 &&
                         !isalnum((unsigned char)text[length]) && !words[length];
            return folded || named ? *kind : NULL;
        }
    }
    return NULL;
}

const char *callout_kind(lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    bool fits = tag == LXB_TAG_DIV || tag == LXB_TAG_ASIDE || tag == LXB_TAG_SECTION ||
                tag == LXB_TAG_BLOCKQUOTE || tag == LXB_TAG_DETAILS || tag == LXB_TAG_P;
    if (!fits || !dom_class(node)) {
        return NULL;
    }
    const char *own = dom_attr(node, "data-callout");
    own = own ? own : dom_attr(node, "data-callout-type");
    const char *kind = own && *own ? own : kind_of(node);
    kind = kind ? kind : kind_by_name(node, tag);
    kind = kind && strcmp(kind, "information") == 0 ? "info" : kind;
    kind = kind && strcmp(kind, "warn") == 0 ? "warning" : kind;
    return kind && dom_has_text(node) ? kind : NULL;
}
