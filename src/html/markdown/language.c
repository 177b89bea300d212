/* Which language a block of code is in: class names and attributes of the highlighters tell, or a
 * label beside the block. */
#include "html/markdown/writer.h"

#include "tables.h"

#include <ctype.h>
#include <strings.h>

#define MOST_AROUND     4  /* elements above a block that are asked */
#define MOST_LOOKED_AT  60 /* nodes beside it that may be a label */
#define MOST_ATTRIBUTES 64

const char *language_by_name(const char *word, size_t length)
{
    return words_text(&code_languages, word, length);
}

static bool is_one_of(const char *word, size_t length, const char *const *words)
{
    for (; *words; words++) {
        if (strncasecmp(word, *words, length) == 0 && !(*words)[length]) {
            return true;
        }
    }
    return false;
}

/* A name as a fence writes it: lower case, one word. */
static const char *clean_name(struct arena *arena, const char *word, size_t length)
{
    const char *known = language_by_name(word, length);
    if (known) {
        return known;
    }
    if (length == 0 || length > 24 || is_one_of(word, length, code_not_languages)) {
        return NULL;
    }
    char *name = arena_strndup(arena, word, length);
    for (size_t i = 0; name && i < length; i++) {
        bool fits = isalnum((unsigned char)name[i]) || strchr("+#.-_", name[i]);
        if (!fits) {
            return NULL;
        }
        name[i] = (char)tolower((unsigned char)name[i]);
    }
    return name;
}

/* ---- class names ---- */

/* A language behind a prefix in a list of class names. */
static const char *by_prefix(struct arena *arena, const char *words)
{
    for (const char *const *prefix = code_prefixes; *prefix; prefix++) {
        size_t length = strlen(*prefix);
        for (const char *at = strcasestr(words, *prefix); at; at = strcasestr(at + 1, *prefix)) {
            if (at > words && !isspace((unsigned char)at[-1])) {
                continue;
            }
            const char *name = at + length;
            name += strspn(name, " ");
            size_t count = strcspn(name, " \t\r\n;,{:");
            bool weak = is_one_of(*prefix, length, code_weak_prefixes);
            const char *found =
                weak ? language_by_name(name, count) : clean_name(arena, name, count);
            if (found) {
                return found;
            }
        }
    }
    return NULL;
}

/* A language with an ending that only says that it is code: "phpcode". */
static const char *by_stem(const char *word, size_t length)
{
    static const char ENDING[] = "code";
    size_t stem = length > strlen(ENDING) ? length - strlen(ENDING) : 0;
    return stem > 2 && strncasecmp(word + stem, ENDING, strlen(ENDING)) == 0
               ? language_by_name(word, stem)
               : NULL;
}

/* A word that is a language by itself, beside words that say that this is highlighted code. */
static const char *by_word(const char *words)
{
    for (const char *at = words; *at;) {
        at += strspn(at, " \t\r\n\f");
        size_t length = strcspn(at, " \t\r\n\f");
        const char *found = length > 1 ? language_by_name(at, length) : NULL;
        found = found ? found : by_stem(at, length);
        if (found) {
            return found;
        }
        at += length;
    }
    return NULL;
}

/* ---- attributes ---- */

/* The value of "language" in an attribute that holds JSON. */
static const char *in_json(struct arena *arena, const char *json)
{
    static const char NAME[] = "\"language\":\"";
    const char *at = strstr(json, NAME);
    at = at ? at + strlen(NAME) : NULL;
    return at ? clean_name(arena, at, strcspn(at, "\"")) : NULL;
}

static const char *by_attribute(struct arena *arena, uint32_t meaning, const char *value)
{
    switch (meaning) {
    case CODE_ATTRIBUTE_NAME:
        return clean_name(arena, value, strlen(value));
    case CODE_ATTRIBUTE_KNOWN:
        return language_by_name(value, strlen(value));
    case CODE_ATTRIBUTE_WORDS:
        return by_prefix(arena, value);
    case CODE_ATTRIBUTE_JSON:
        return in_json(arena, value);
    default:
        return NULL;
    }
}

static const char *by_attributes(struct arena *arena, const lxb_dom_node_t *node, bool is_code)
{
    const char *found = NULL;
    size_t looked = 0;
    for (lxb_dom_attr_t *attr = ((const lxb_dom_element_t *)node)->first_attr;
         attr && !found && looked < MOST_ATTRIBUTES; attr = attr->next, looked++) {
        size_t length = 0;
        const lxb_char_t *name = lxb_dom_attr_local_name(attr, &length);
        uint32_t meaning = name ? words_value(&code_attributes, (const char *)name, length) : 0;
        if (meaning && attr->value && attr->value->data &&
            (is_code || meaning != CODE_ATTRIBUTE_KNOWN)) {
            found = by_attribute(arena, meaning, (const char *)attr->value->data);
        }
    }
    return found;
}

static const char *language_at(struct arena *arena, const lxb_dom_node_t *node, bool is_code)
{
    const char *words = dom_class(node);
    const char *found = words && *words ? by_prefix(arena, words) : NULL;
    found = found ? found : by_attributes(arena, node, is_code);
    if (!found && words && (is_code || dom_holds_any(words, code_highlighters))) {
        found = by_word(words);
    }
    return found;
}

/* ---- around and below ---- */

/* An element beside the code whose name says that it names the language. */
static const char *by_label(lxb_dom_node_t *box, const lxb_dom_node_t *block)
{
    static const char *const WORDS[] = {"lang", NULL};
    int looked = 0;
    for (lxb_dom_node_t *node = box->first_child; node && looked < MOST_LOOKED_AT; looked++) {
        bool inside = node == block;
        if (!inside && node->type == LXB_DOM_NODE_TYPE_ELEMENT &&
            dom_holds_any(dom_class(node), WORDS)) {
            char text[24];
            size_t length = dom_collect(node, text, sizeof text);
            const char *found = length ? language_by_name(text, length) : NULL;
            if (found) {
                return found;
            }
        }
        node = dom_next(node, box, !inside);
    }
    return NULL;
}

/* What is around a block may hold several, and still tells. */
static const char *language_around(struct arena *arena, lxb_dom_node_t *node)
{
    const char *found = NULL;
    lxb_dom_node_t *around = node->parent;
    for (int steps = 0; !found && around && steps < MOST_AROUND; steps++, around = around->parent) {
        lxb_tag_id_t tag = dom_tag(around);
        if (tag == LXB_TAG_BODY || tag == LXB_TAG_ARTICLE || tag == LXB_TAG_MAIN ||
            tag == LXB_TAG_LI) {
            break;
        }
        found = language_at(arena, around, false);
        if (!found && dom_holds_any(dom_class(around), code_highlighters)) {
            found = by_label(around, node);
        }
    }
    return found;
}

const char *language_of(struct arena *arena, lxb_dom_node_t *node)
{
    const char *found = language_at(arena, node, true);
    lxb_dom_node_t *code = found ? NULL : dom_find(node, LXB_TAG_CODE);
    found = code ? language_at(arena, code, true) : found;
    found = found ? found : language_around(arena, node);
    for (lxb_dom_node_t *below = node->first_child; below && !found;
         below = dom_next(below, node, true)) {
        lxb_tag_id_t tag = dom_tag(below);
        if (tag == LXB_TAG_DIV || tag == LXB_TAG_PRE || tag == LXB_TAG_CODE ||
            tag == LXB_TAG_TABLE) {
            found = language_at(arena, below, tag != LXB_TAG_DIV);
        }
    }
    return found;
}

/* ---- labels ---- */

bool language_is_label(const char *text, size_t length, const char **language)
{
    bool any = false;
    for (size_t at = 0; at < length;) {
        if (strchr(" :|[]()\n", text[at])) {
            at++;
            continue;
        }
        size_t taken = 0;
        for (const char *const *label = code_labels; *label; label++) {
            size_t size = strlen(*label);
            bool ends =
                at + size == length || (at + size < length && strchr(" :|[]()\n", text[at + size]));
            if (size > taken && ends && strncasecmp(text + at, *label, size) == 0) {
                taken = size;
            }
        }
        size_t word = 0;
        while (at + word < length && !strchr(" :|[]()\n", text[at + word])) {
            word++;
        }
        const char *found = taken ? NULL : language_by_name(text + at, word);
        if (found) {
            *language = *language ? *language : found;
            taken = word;
        }
        if (!taken) {
            return false;
        }
        any = true;
        at += taken;
    }
    return any;
}
