/* Markdown of pages: the cases of data/markdown_cases.txt, each written as the whole body of a
 * page, and code in the markup of ten highlighters, which must keep every character and the
 * language. */
#include "base/buf.h"
#include "base/limits.h"
#include "base/status.h"
#include "page/html/hidden.h"
#include "page/html/metadata.h"
#include "page/html/page.h"
#include "page/html/parse.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The body of `html` as Markdown, all of it content; the caller frees it. */
static char *markdown_of(const char *html, const char *title)
{
    struct arena *arena = arena_new(MIB(16));
    struct page page = {.arena = arena, .url = "https://example.org/dir/page"};
    struct buf out;
    buf_init(&out, MIB(1));
    assert_int_equal(parse_html(&page, html, strlen(html)), OK);
    hidden_mark(&page);
    page.metadata.title = title;
    page.roots = &page.body;
    page.root_count = 1;
    assert_int_equal(markdown_write(&page, &out), OK);
    parse_done(&page);
    arena_free(arena);
    char *text = buf_take(&out);
    return text ? text : strdup("");
}

/* ---- the cases of the file ---- */

static char *read_cases(void)
{
    static const char PATH[] = UNIT_DATA "/markdown_cases.txt";
    struct buf text;
    buf_init(&text, MIB(1));
    FILE *file = fopen(PATH, "re");
    assert_non_null(file);
    char piece[4096];
    size_t count;
    while ((count = fread(piece, 1, sizeof piece, file)) > 0) {
        buf_append(&text, piece, count);
    }
    fclose(file);
    return buf_take(&text);
}

static void check_case(const char *name, const char *html, const char *expected)
{
    char *markdown = markdown_of(html, "The case");
    if (strcmp(markdown, expected) != 0) {
        fail_msg("%s:\n%s\nwas expected, but this came:\n%s", name, expected, markdown);
    }
    free(markdown);
}

static void writes_the_cases(void **state)
{
    (void)state;
    char *text = read_cases();
    size_t cases = 0;
    char *at = strstr(text, "\n== ");
    while (at) {
        char *name = at + 4;
        char *html = strchr(name, '\n');
        char *expected = html ? strstr(html, "\n--\n") : NULL;
        assert_non_null(expected);
        *html++ = '\0';
        *expected = '\0';
        expected += 4;
        at = strstr(expected, "\n== ");
        if (at) {
            *at = '\0';
        }
        check_case(name, html, expected);
        cases++;
    }
    assert_true(cases > 30);
    free(text);
}

/* ---- code ---- */

#define LINE_ONE "vector<int> v{1, 2};"
#define LINE_TWO "  return v[0]; // `x` & y"
#define ESC_ONE  "vector&lt;int&gt; v{1, 2};"
#define ESC_TWO  "  return v[0]; // `x` &amp; y"

static void keeps_code(void **state)
{
    (void)state;
    static const struct {
        const char *highlighter, *html;
    } CASES[] = {
        {"highlight.js",
         "<pre><code class=\"hljs language-cpp\"><span class=\"hljs-type\">vector</span>"
         "&lt;int&gt; v{1, 2};\n" ESC_TWO "\n</code></pre>"},
        {"highlight.js of old", "<pre class=\"hljs cpp\">" ESC_ONE "\n" ESC_TWO "</pre>"},
        {"Prism with line numbers",
         "<pre class=\"language-cpp line-numbers\"><code class=\"language-cpp\">" ESC_ONE
         "\n" ESC_TWO "<span aria-hidden=\"true\" "
         "class=\"line-numbers-rows\"><span></span><span></span></span></code>"
         "<button class=\"copy-to-clipboard-button\">Copy</button></pre>"},
        {"Pygments in a table",
         "<div class=\"highlight-cpp\"><table class=\"highlighttable\"><tr><td "
         "class=\"linenos\"><div "
         "class=\"linenodiv\"><pre>1\n2</pre></div></td><td class=\"code\"><div class=\"highlight "
         "lang-cpp\">"
         "<pre><span></span>" ESC_ONE "\n" ESC_TWO "\n</pre></div></td></tr></table></div>"},
        {"Rouge in a table", "<div class=\"language-cpp highlighter-rouge\"><div "
                             "class=\"highlight\"><pre class=\"highlight\">"
                             "<code><table class=\"rouge-table\"><tbody><tr><td "
                             "class=\"rouge-gutter gl\"><pre class=\"lineno\">"
                             "1\n2\n</pre></td><td class=\"rouge-code\"><pre>" ESC_ONE "\n" ESC_TWO
                             "\n</pre></td></tr></tbody></table></code></pre></div></div>"},
        {"Chroma with numbers in the lines",
         "<div class=\"highlight\"><pre class=\"chroma\"><code class=\"language-cpp\" "
         "data-lang=\"cpp\">"
         "<span class=\"line\"><span class=\"ln\">1</span><span class=\"cl\">" ESC_ONE
         "\n</span></span><span class=\"line\"><span class=\"ln\">2</span><span "
         "class=\"cl\">" ESC_TWO "\n</span></span></code></pre></div>"},
        {"Shiki", "<div class=\"language-cpp\"><button class=\"copy\"></button><span "
                  "class=\"lang\" hidden>cpp"
                  "</span><pre class=\"shiki\"><code><span class=\"line\">" ESC_ONE
                  "</span>\n<span class=\"line\">" ESC_TWO "</span></code></pre></div>"},
        {"Docusaurus",
         "<div class=\"language-cpp codeBlockContainer\"><pre class=\"prism-code language-cpp\">"
         "<code><span class=\"token-line\">" ESC_ONE
         "<br></span><span class=\"token-line\">" ESC_TWO "<br></span></code></pre></div>"},
        {"GitHub", "<div class=\"highlight highlight-source-cpp\"><pre>" ESC_ONE "\n" ESC_TWO
                   "</pre><div class=\"zeroclipboard-container\"></div></div>"},
        {"GitHub's lines of a file", "<table class=\"highlight\" data-language=\"cpp\"><tr><td "
                                     "class=\"blob-num\" data-line-number=\"1\">"
                                     "</td><td class=\"blob-code\">" ESC_ONE
                                     "</td></tr><tr><td class=\"blob-num\" data-line-number=\"2\">"
                                     "</td><td class=\"blob-code\">" ESC_TWO "</td></tr></table>"},
        {"SyntaxHighlighter",
         "<pre class=\"brush: cpp; gutter: true\">" ESC_ONE "\n" ESC_TWO "</pre>"},
        {"StackExchange",
         "<pre class=\"lang-cpp s-code-block\"><code>" ESC_ONE "\n" ESC_TWO "\n</code></pre>"},
        {"Wikipedia",
         "<div class=\"mw-highlight mw-highlight-lang-cpp mw-content-ltr lang-cpp\"><pre>"
         "<span></span>" ESC_ONE "\n" ESC_TWO "\n</pre></div>"},
        {"CodeMirror",
         "<div class=\"CodeMirror\" data-lang=\"cpp\"><div class=\"CodeMirror-gutters\">12</div>"
         "<div class=\"CodeMirror-code\"><pre class=\"CodeMirror-line\">" ESC_ONE
         "</pre><pre class=\"CodeMirror-line\">" ESC_TWO "</pre></div></div>"},
        {"a label above", "<div><span>C++</span><button>Copy</button></div><pre><code>" ESC_ONE
                          "\n" ESC_TWO "</code></pre>"},
    };
    static const char EXPECTED[] = "```cpp\n" LINE_ONE "\n" LINE_TWO "\n```\n";
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char *markdown = markdown_of(CASES[i].html, NULL);
        if (strcmp(markdown, EXPECTED) != 0) {
            fail_msg("%s came out as\n%s", CASES[i].highlighter, markdown);
        }
        free(markdown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_cases),
        cmocka_unit_test(keeps_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
