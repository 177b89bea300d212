/* Which language a block of code is in, from the class names and attributes of the highlighters. */
#include "page/html/markdown/writer.h"

#include "tables.h"

#include <ctype.h>
#include <strings.h>

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

/* A word that is a language by itself, beside words that say that this is highlighted code. */
static const char *by_word(const char *words)
{
    for (const char *at = words; *at;) {
        at += strspn(at, " \t\r\n\f");
        size_t length = strcspn(at, " \t\r\n\f");
        const char *found = length > 1 ? language_by_name(at, length) : NULL;
        if (found) {
            return found;
        }
        at += length;
    }
    return NULL;
}

static const char *by_attributes(struct arena *arena, const lxb_dom_node_t *node)
{
    for (const char *const *name = code_attributes; *name; name++) {
        const char *value = dom_attr(node, *name);
        const char *found = value && *value ? clean_name(arena, value, strlen(value)) : NULL;
        if (found) {
            return found;
        }
    }
    return NULL;
}

static const char *language_at(struct arena *arena, const lxb_dom_node_t *node, bool is_code)
{
    const char *words = dom_class(node);
    const char *found = words && *words ? by_prefix(arena, words) : NULL;
    found = found ? found : by_attributes(arena, node);
    if (!found && words && (is_code || dom_holds_any(words, code_highlighters))) {
        found = by_word(words);
    }
    return found;
}

const char *language_of(struct arena *arena, lxb_dom_node_t *node)
{
    const char *found = language_at(arena, node, true);
    lxb_dom_node_t *code = found ? NULL : dom_find(node, LXB_TAG_CODE);
    found = code ? language_at(arena, code, true) : found;
    /* The element itself holds one block only; what is around it may hold several, and still tells.
     */
    lxb_dom_node_t *around = node->parent;
    for (int steps = 0; !found && around && steps < 4; steps++, around = around->parent) {
        lxb_tag_id_t tag = dom_tag(around);
        if (tag == LXB_TAG_BODY || tag == LXB_TAG_ARTICLE || tag == LXB_TAG_MAIN ||
            tag == LXB_TAG_LI) {
            break;
        }
        found = language_at(arena, around, false);
        if (!found && steps == 0) {
            const char *value = dom_attr(around, "lang");
            found = value ? language_by_name(value, strlen(value)) : NULL;
        }
    }
    if (!found) {
        for (lxb_dom_node_t *below = node->first_child; below && !found;
             below = dom_next(below, node, true)) {
            lxb_tag_id_t tag = dom_tag(below);
            if (tag == LXB_TAG_DIV || tag == LXB_TAG_PRE || tag == LXB_TAG_CODE ||
                tag == LXB_TAG_TABLE) {
                found = language_at(arena, below, tag != LXB_TAG_DIV);
            }
        }
    }
    return found;
}
