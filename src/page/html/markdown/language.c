/* Which language a block of code is in, from the class names and attributes of the highlighters. */
#include "page/html/markdown/writer.h"

#include <ctype.h>
#include <strings.h>

/* Names that stand alone ("hljs python", a label "Python" above the block): only words that are
 * known to be languages count there. The second is what a fence says, where it differs. */
static const struct {
    const char *word;
    const char *fence;
} LANGUAGES[] = {
    {"abap", NULL},
    {"ada", NULL},
    {"apache", NULL},
    {"apl", NULL},
    {"applescript", NULL},
    {"arduino", NULL},
    {"asm", NULL},
    {"assembly", "asm"},
    {"awk", NULL},
    {"bash", NULL},
    {"basic", NULL},
    {"bat", NULL},
    {"batch", NULL},
    {"bibtex", NULL},
    {"c", NULL},
    {"c#", "csharp"},
    {"c++", "cpp"},
    {"clj", "clojure"},
    {"clojure", NULL},
    {"cmake", NULL},
    {"cmd", NULL},
    {"cobol", NULL},
    {"coffeescript", NULL},
    {"console", NULL},
    {"cpp", NULL},
    {"cs", "csharp"},
    {"csharp", NULL},
    {"css", NULL},
    {"csv", NULL},
    {"cuda", NULL},
    {"curl", NULL},
    {"cython", NULL},
    {"d", NULL},
    {"dart", NULL},
    {"delphi", NULL},
    {"diff", NULL},
    {"docker", NULL},
    {"dockerfile", NULL},
    {"elisp", NULL},
    {"elixir", NULL},
    {"elm", NULL},
    {"erb", NULL},
    {"erlang", NULL},
    {"ex", "elixir"},
    {"f#", "fsharp"},
    {"fish", NULL},
    {"fortran", NULL},
    {"fsharp", NULL},
    {"gdscript", NULL},
    {"glsl", NULL},
    {"go", NULL},
    {"golang", "go"},
    {"gradle", NULL},
    {"graphql", NULL},
    {"groovy", NULL},
    {"handlebars", NULL},
    {"haskell", NULL},
    {"hcl", NULL},
    {"hlsl", NULL},
    {"hs", "haskell"},
    {"html", NULL},
    {"http", NULL},
    {"ini", NULL},
    {"java", NULL},
    {"javascript", NULL},
    {"js", NULL},
    {"json", NULL},
    {"json5", NULL},
    {"jsonc", NULL},
    {"jsx", NULL},
    {"julia", NULL},
    {"kotlin", NULL},
    {"kt", "kotlin"},
    {"latex", NULL},
    {"lean", NULL},
    {"less", NULL},
    {"lisp", NULL},
    {"llvm", NULL},
    {"lua", NULL},
    {"makefile", NULL},
    {"markdown", NULL},
    {"matlab", NULL},
    {"md", NULL},
    {"mdx", NULL},
    {"mermaid", NULL},
    {"mysql", NULL},
    {"nasm", NULL},
    {"nginx", NULL},
    {"nim", NULL},
    {"nix", NULL},
    {"node.js", "javascript"},
    {"objc", NULL},
    {"objective-c", "objectivec"},
    {"objectivec", NULL},
    {"ocaml", NULL},
    {"octave", NULL},
    {"opencl", NULL},
    {"pascal", NULL},
    {"perl", NULL},
    {"pgsql", NULL},
    {"php", NULL},
    {"plsql", NULL},
    {"postgresql", NULL},
    {"powershell", NULL},
    {"prisma", NULL},
    {"prolog", NULL},
    {"properties", NULL},
    {"proto", NULL},
    {"protobuf", NULL},
    {"ps1", "powershell"},
    {"pug", NULL},
    {"py", NULL},
    {"pycon", NULL},
    {"python", NULL},
    {"python3", "python"},
    {"qml", NULL},
    {"r", NULL},
    {"racket", NULL},
    {"raku", NULL},
    {"rb", "ruby"},
    {"razor", NULL},
    {"regex", NULL},
    {"rs", "rust"},
    {"rst", NULL},
    {"ruby", NULL},
    {"rust", NULL},
    {"sass", NULL},
    {"scala", NULL},
    {"scheme", NULL},
    {"scss", NULL},
    {"sh", NULL},
    {"shell", NULL},
    {"smalltalk", NULL},
    {"solidity", NULL},
    {"sparql", NULL},
    {"sql", NULL},
    {"stata", NULL},
    {"svelte", NULL},
    {"svg", NULL},
    {"swift", NULL},
    {"systemverilog", NULL},
    {"tcl", NULL},
    {"terraform", NULL},
    {"tex", NULL},
    {"toml", NULL},
    {"ts", NULL},
    {"tsx", NULL},
    {"twig", NULL},
    {"typescript", NULL},
    {"typst", NULL},
    {"v", NULL},
    {"vb", NULL},
    {"vb.net", "vbnet"},
    {"vbnet", NULL},
    {"verilog", NULL},
    {"vhdl", NULL},
    {"vim", NULL},
    {"vue", NULL},
    {"wasm", NULL},
    {"wgsl", NULL},
    {"xml", NULL},
    {"yaml", NULL},
    {"yml", NULL},
    {"zig", NULL},
    {"zsh", NULL},
};

const char *language_by_name(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof LANGUAGES / sizeof *LANGUAGES; i++) {
        if (strncasecmp(word, LANGUAGES[i].word, length) == 0 && !LANGUAGES[i].word[length]) {
            return LANGUAGES[i].fence ? LANGUAGES[i].fence : LANGUAGES[i].word;
        }
    }
    return NULL;
}

/* What highlighters put before the name of the language, in the order in which they are believed.
 */
static const char *const PREFIXES[] = {
    "language-", "lang-",  "highlight-source-", "highlight-text-", "source-",        "code-",
    "syntax-",   "brush:", "sourcecode-",       "highlight-",      "wp-block-code-", NULL,
};

/* Of these, the ones that other things bear too: only a known language counts behind them. */
static const char *const WEAK_PREFIXES[] = {"source-", "code-", "syntax-", "highlight-", NULL};

/* Words after a prefix, or alone, that name no language. */
static const char *const NOT_LANGUAGES[] = {
    "none",    "plain",     "plaintext", "text",    "txt",       "nohighlight", "no-highlight",
    "default", "undefined", "block",     "wrapper", "container", "auto",        "unknown",
    "line",    "toolbar",   "example",   "box",     "snippet",   "sample",      "output",
    "wrap",    "inline",    "view",      "group",   "area",      "content",     "highlight",
    "fence",   "header",    "body",      "editor",  NULL,
};

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
    if (length == 0 || length > 24 || is_one_of(word, length, NOT_LANGUAGES)) {
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
    for (const char *const *prefix = PREFIXES; *prefix; prefix++) {
        size_t length = strlen(*prefix);
        for (const char *at = strcasestr(words, *prefix); at; at = strcasestr(at + 1, *prefix)) {
            if (at > words && !isspace((unsigned char)at[-1])) {
                continue;
            }
            const char *name = at + length;
            name += strspn(name, " ");
            size_t count = strcspn(name, " \t\r\n;,{:");
            bool weak = is_one_of(*prefix, length, WEAK_PREFIXES);
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
    static const char *const NAMES[] = {"data-lang",
                                        "data-language",
                                        "data-code-language",
                                        "language",
                                        "data-highlight-language",
                                        "data-enlighter-language",
                                        "data-syntax",
                                        NULL};
    for (const char *const *name = NAMES; *name; name++) {
        const char *value = dom_attr(node, *name);
        const char *found = value && *value ? clean_name(arena, value, strlen(value)) : NULL;
        if (found) {
            return found;
        }
    }
    return NULL;
}

static const char *const CODE_WORDS[] = {
    "hljs",       "highlight", "prettyprint", "code",       "syntax", "prism", "shiki",
    "sourcecode", "chroma",    "brush",       "codehilite", "astro",  NULL};

static const char *language_at(struct arena *arena, const lxb_dom_node_t *node, bool is_code)
{
    const char *words = dom_class(node);
    const char *found = words && *words ? by_prefix(arena, words) : NULL;
    found = found ? found : by_attributes(arena, node);
    if (!found && words && (is_code || dom_holds_any(words, CODE_WORDS))) {
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
