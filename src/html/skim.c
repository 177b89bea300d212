/* The tokenizer is a machine of states, each a function. In place of the state that takes in the
 * source of a script or a style sheet byte by byte we set one that only looks for where it may end,
 * and leaves all that is not plain source to lexbor's own: end tags, comments in scripts, the end
 * of a piece of the page. */
#include "html/skim.h"

#include "html/dom.h"

#include <lexbor/html/tokenizer/state_rawtext.h>
#include <lexbor/html/tokenizer/state_script.h>
#include <lexbor/html/tree.h>
#include <strings.h>

enum { LONGEST_END = 8 }; /* of "</script", "</style" and "<!--" */

/* Where the source at `data` may end: at the end tag or, in a script, at a comment, in which end
 * tags may be source. What the end of the piece cuts off may be any of these. */
static const lxb_char_t *find_end(const lxb_char_t *data, const lxb_char_t *end, const char *tag,
                                  bool comments)
{
    size_t length = strlen(tag);
    while ((data = memchr(data, '<', (size_t)(end - data)))) {
        if (end - data < LONGEST_END) {
            return data;
        }
        if ((data[1] == '/' && strncasecmp((const char *)data + 2, tag, length) == 0) ||
            (comments && memcmp(data, "<!--", 4) == 0)) {
            return data;
        }
        data++;
    }
    return end;
}

static const lxb_char_t *skim_script(lxb_html_tokenizer_t *tokenizer, const lxb_char_t *data,
                                     const lxb_char_t *end)
{
    data = tokenizer->is_eof ? data : find_end(data, end, "script", true);
    if (data != end) {
        lxb_html_tokenizer_state_set(tokenizer, lxb_html_tokenizer_state_script_data_before);
    }
    return data;
}

static const lxb_char_t *skim_style(lxb_html_tokenizer_t *tokenizer, const lxb_char_t *data,
                                    const lxb_char_t *end)
{
    data = tokenizer->is_eof ? data : find_end(data, end, "style", false);
    if (data != end) {
        lxb_html_tokenizer_state_set(tokenizer, lxb_html_tokenizer_state_rawtext_before);
    }
    return data;
}

bool skim_is_program(const lxb_dom_node_t *node)
{
    static const char *const PROGRAMS[] = {"javascript", "ecmascript", NULL};
    if (dom_tag(node) != LXB_TAG_SCRIPT || node->ns != LXB_NS_HTML) {
        return false;
    }
    const char *type = dom_known_attr(node, LXB_DOM_ATTR_TYPE);
    return !type || !*type || strcasecmp(type, "module") == 0 || dom_holds_any(type, PROGRAMS);
}

bool skim_unread(lxb_html_tokenizer_t *tokenizer, const lxb_html_tree_t *tree)
{
    bool script = tokenizer->state == lxb_html_tokenizer_state_script_data_before;
    if (!script && tokenizer->state != lxb_html_tokenizer_state_rawtext_before) {
        return false;
    }
    const lxb_dom_node_t *open =
        lexbor_array_get(tree->open_elements, tree->open_elements->length - 1);
    if (script && open && skim_is_program(open)) {
        lxb_html_tokenizer_state_set(tokenizer, skim_script);
        return true;
    }
    if (!script && open && dom_tag(open) == LXB_TAG_STYLE) {
        lxb_html_tokenizer_state_set(tokenizer, skim_style);
        return true;
    }
    return false;
}
