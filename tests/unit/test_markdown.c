/* Markdown of pages: the cases of files, each written as the whole body of a page, and code in the
 * markup of highlighters, which must keep every character and the language. */
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "html/extract.h"
#include "html/hidden.h"
#include "html/metadata.h"
#include "html/page.h"
#include "html/parse.h"
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
    return out.data ? out.data : strdup("");
}

/* What the whole extractor makes of a page; the caller frees it. */
static char *extracted(const char *html)
{
    struct arena *arena = arena_new(MIB(16));
    struct extract_input input = {
        .bytes = html, .length = strlen(html), .url = "https://example.org/dir/page"};
    struct extract_result result;
    assert_int_equal(extract_page(arena, &input, &result), OK);
    char *text = strdup(result.markdown);
    arena_free(arena);
    return text;
}

#define SENTENCES                                                                                  \
    "<p>The river had been rising for three days, and on the fourth morning the old bridge, "      \
    "which nobody had repaired since the war, finally gave way under the weight of the water.</p>"
#define DATA                                                                                       \
    "The river had been rising for three days, and on the fourth morning the old bridge gave "     \
    "way. Nobody had repaired it since the war. Engineers came from the city, measured what was "  \
    "left of it, and shook their heads. The ferry is full.\\nA *first* part."
#define MANY_SENTENCES SENTENCES SENTENCES SENTENCES SENTENCES SENTENCES SENTENCES SENTENCES
#define OTHER_SENTENCES                                                                            \
    "<p>Engineers came from the city, measured what was left of the piers, shook their heads, "    \
    "and then some more of them came, who measured it all again, and left before night.</p>"

/* ---- the cases of the file ---- */

static char *read_cases(const char *path)
{
    struct buf text;
    buf_init(&text, MIB(1));
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    char piece[4096];
    size_t count;
    while ((count = fread(piece, 1, sizeof piece, file)) > 0) {
        buf_append(&text, piece, count);
    }
    fclose(file);
    return text.data;
}

/* Nor may choosing touch it, in the middle of an article: each line must be there. */
static void check_in_article(const char *name, const char *html, const char *expected)
{
    struct buf page;
    buf_init(&page, MIB(1));
    buf_printf(&page, "<header><a href=/>Home</a></header><main><article><h1>Title</h1>%s%s%s%s",
               SENTENCES, html, OTHER_SENTENCES, "</article></main><footer>Copyright</footer>");
    char *markdown = extracted(page.data);
    for (const char *line = expected; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char *one = strndup(line, strcspn(line, "\n"));
        if (!strstr(markdown, one)) {
            fail_msg("%s in an article has no \"%s\":\n%s", name, one, markdown);
        }
        free(one);
    }
    free(markdown);
    buf_done(&page);
}

static void check_case(const char *name, const char *html, const char *expected, bool in_article)
{
    char *markdown = markdown_of(html, "The case");
    if (strcmp(markdown, expected) != 0) {
        fail_msg("%s:\n%s\nwas expected, but this came:\n%s", name, expected, markdown);
    }
    free(markdown);
    if (in_article) {
        check_in_article(name, html, expected);
    }
}

/* With `kept` the cases whose names begin so must stay in an article, too; "" stands for all. */
static void write_cases(const char *path, size_t least, const char *kept)
{
    char *text = read_cases(path);
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
        check_case(name, html, expected, kept && strncmp(name, kept, strlen(kept)) == 0);
        cases++;
    }
    assert_true(cases > least);
    free(text);
}

static void writes_the_cases(void **state)
{
    (void)state;
    write_cases(UNIT_DATA "/markdown_cases.txt", 30, NULL);
}

static void writes_code_of_highlighters(void **state)
{
    (void)state;
    write_cases(UNIT_DATA "/code_cases.txt", 70, "");
}

static void writes_footnotes_of_generators(void **state)
{
    (void)state;
    write_cases(UNIT_DATA "/footnote_cases.txt", 40, "");
}

static void writes_formulas_of_renderers(void **state)
{
    (void)state;
    write_cases(UNIT_DATA "/formula_cases.txt", 40, "");
}

static void writes_boxes_of_generators(void **state)
{
    (void)state;
    write_cases(UNIT_DATA "/box_cases.txt", 40, "callouts");
}

static void writes_media_of_pages(void **state)
{
    (void)state;
    write_cases(UNIT_DATA "/media_cases.txt", 25, NULL);
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
        /* Nor may choosing touch it, in the middle of an article. */
        struct buf page;
        buf_init(&page, MIB(1));
        buf_printf(&page, "<article><h1>Title</h1>%s%s%s</article>", SENTENCES, CASES[i].html,
                   SENTENCES);
        markdown = extracted(page.data);
        if (!strstr(markdown, EXPECTED)) {
            fail_msg("%s in an article came out as\n%s", CASES[i].highlighter, markdown);
        }
        free(markdown);
        buf_done(&page);
    }
}

/* ---- whole pages ---- */

static void reads_whole_pages(void **state)
{
    (void)state;
    static const struct {
        const char *name, *html, *kept, *dropped;
    } CASES[] = {
        {"a caption goes with its picture",
         "<article>" SENTENCES "<figure><img src=/a.png alt=Boat><figcaption>The \"Ann\", at (sea"
         "<span style=font-size:0>obey</span></figcaption></figure>" SENTENCES "</article>",
         "![Boat](https://example.org/a.png \"The \\\"Ann\\\", at \\(sea\")", "obey"},
        {"a caption of a picture without a text of its own",
         "<article>" SENTENCES "<div class=wp-caption><img src=/a.png><p class=wp-caption-text>The "
         "Ann.</p></div>" SENTENCES "</article>",
         "![The Ann.](https://example.org/a.png)", "\nThe Ann."},
        {"a caption of a picture in several boxes",
         "<article>" SENTENCES "<div class=captioned-image-container><figure><a href=/l.png><div "
         "class=image2-inset><picture><img src=/a.png alt=Boat></picture></div></a><figcaption "
         "class=image-caption>The Ann.</figcaption></figure></div>" SENTENCES "</article>",
         "![Boat](https://example.org/a.png \"The Ann.\")", NULL},
        {"a picture that is all an item of a list shows, on a page with furniture",
         "<nav><ul><li><a href=/>Home</a><li><a href=/n>News</a></ul></nav><main><article><h1>The "
         "week</h1>" SENTENCES
         "<ul><li>We have just opened <a href=/b>bridge 12</a>, which aims to "
         "carry twice as many people as the old one did, which fell last week.<ul><li><div "
         "class=wp-caption><a href=/big.png><img src=/a.png alt=Bridge></a><p "
         "class=wp-caption-text>People who cross it twice a day will see this less!</p></div></li>"
         "</ul></li><li>Also about to open is <a href=/c>bridge 13</a>, which provides some "
         "support "
         "for carts when there is already a cart on it, and for those who wait for "
         "one.</li></ul>" OTHER_SENTENCES
         "</article></main><aside><h2>Recent posts</h2><ul><li><a href=/1>One of "
         "the older ones</a><li><a href=/2>Another of them</a></ul></aside><footer><p>Imprint and "
         "terms of use, published by the Valley Press.</p></footer>",
         "![Bridge](https://example.org/a.png", "Recent posts"},
        {"words in the middle of a sentence, whatever they are called",
         "<article>" SENTENCES "<p>They meant <span class=tooltip-trigger><a href=/b>the new "
         "bridge</a></span> and not the ferry, as everybody knew by then.</p>" SENTENCES
         "</article>",
         "meant [the new bridge](https://example.org/b) and not", NULL},
        {"a link before the end of a sentence",
         "<article>" SENTENCES "<p>They looked at <span class=tooltip-trigger><a href=/b>the new "
         "bridge</a></span>.</p>" SENTENCES "</article>",
         "looked at [the new bridge](https://example.org/b).", NULL},
        {"a table of data between two paragraphs",
         "<article>" SENTENCES OTHER_SENTENCES "<table class=sidebar><thead><tr><th>Boat<th>Fare"
         "</thead><tr><td>Ann<td>$4<tr><td>Bea<td>$5</table>" SENTENCES "</article>",
         "| Ann | $4 |", NULL},
        {"who a quote is of",
         "<article>" SENTENCES
         "<blockquote><p>It held.</p><footer>The mayor</footer></blockquote>" SENTENCES
         "</article>",
         "> The mayor", NULL},
        {"a caption of code is text",
         "<article>" SENTENCES "<figure><pre>x = 1</pre><figcaption>How it begins</figcaption>"
         "</figure>" SENTENCES "</article>",
         "\nHow it begins\n", NULL},
        {"a caption of code in boxes",
         "<article>" SENTENCES "<div class=wrapper><div class=code-block-caption><span "
         "class=caption-text>How it begins</span></div><div><pre>x = 1</pre></div></div>" SENTENCES
         "</article>",
         "\nHow it begins\n", NULL},
        {"a quote of a forum in an aside, and the source of a quote in its footer",
         "<article>" SENTENCES "<aside class=quote><div class=title>Ann:</div><blockquote><p>It "
         "fell.</p></blockquote></aside><blockquote><p>So it goes.</p><footer>Kurt</footer>"
         "</blockquote>" SENTENCES "</article>",
         "> Ann:\n>\n> It fell.\n\n> So it goes.\n>\n> Kurt\n", NULL},
        {"panels that only their role names, closed ones too",
         "<article>" SENTENCES "<div role=tablist><button role=tab id=a>One</button><button "
         "role=tab id=b>Two</button></div><div role=tabpanel aria-labelledby=a><p>First.</p></div>"
         "<div role=tabpanel aria-labelledby=b hidden><p>Second.</p></div>" SENTENCES "</article>",
         "**One**\n\nFirst.\n\n**Two**\n\nSecond.\n", NULL},
        {"a panel that begins with its title, after a style sheet and a script",
         "<article>" SENTENCES "<div role=tablist><button role=tab id=a>One</button><button "
         "role=tab id=b>Two</button></div><div role=tabpanel aria-labelledby=a><style>p {}</style>"
         "<script>run()</script><h3>One</h3><p>First.</p></div><div role=tabpanel "
         "aria-labelledby=b hidden><p>Second.</p></div>" SENTENCES "</article>",
         "\n\n### One\n\nFirst.\n\n**Two**\n\nSecond.\n", "**One**"},
        {"a word of menus that is all a cell says",
         "<article>" SENTENCES "<table><tr><td><div><a href=/f>front</a></div></td><td>the first"
         "</td></tr><tr><td><div><a href=/b>back</a></div></td><td>the "
         "last</td></tr></table>" SENTENCES "</article>",
         "| [back](https://example.org/b) | the last |", NULL},
        {"a page of a few lines keeps its only link",
         "<title>A name</title><div><h1>A name</h1><p>This name is for use in documentation "
         "examples without needing permission.</p><p><a href=https://iana.example/>Learn more</a>"
         "</p></div>",
         "permission.\n\n[Learn more](https://iana.example/)", NULL},
        {"a caption that is all an item says",
         "<article>" SENTENCES "<ul><li><figure><img src=/a.png alt=x><figcaption>The Ann"
         "</figcaption></figure><li><figure><img src=/b.png alt=y><figcaption>The Bea</figcaption>"
         "</figure></ul>" SENTENCES "</article>",
         "- ![y](https://example.org/b.png) The Bea\n", NULL},
        {"the picture above the text, without what is beside it",
         "<body><nav><figure><img src=/n.png></figure></nav><article><h1>Title</h1><div "
         "class=top><figure><img src=/a.png alt=Boat><b>Zoom</b></figure><p>By Ann</p></div><div "
         "class=text>" SENTENCES SENTENCES "</div></article>",
         "![Boat](https://example.org/a.png)\n", "Zoom"},
        {"a text that goes on in another part of the same shape",
         "<div><div class=part>" MANY_SENTENCES MANY_SENTENCES
         "</div><div class=part>" OTHER_SENTENCES SENTENCES "</div></div>",
         "and then some more", NULL},
        {"a page that comes in pieces",
         "<main><div><!--$?--><template id=\"B:1\"></template><p>Loading the text, please wait for "
         "it a little.</p><!--/$--></div>" OTHER_SENTENCES
         "</main><div hidden id=\"S:1\">" SENTENCES "</div>",
         "of the water.\n\nEngineers came", "Loading"},
        {"a frame that would take the page for its text",
         "<noscript><iframe src=/count height=0 /></noscript><article>" SENTENCES OTHER_SENTENCES
         "</article>",
         "three days", NULL},
        {"a text in JSON-LD, of a page that is a shell",
         "<script type=application/ld+json>{\"@type\": \"NewsArticle\", \"articleBody\": \"" DATA
         "\"}</script><div id=app></div><script>run()</script>",
         "A \\*first\\* part.\n", NULL},
        {"a text for scripts, of a page that is a shell",
         "<script id=__NEXT_DATA__ type=application/json>{\"props\": {\"blocks\": [{\"content\": "
         "\"<p>" DATA "</p><p>A <i>second</i> part.</p><p style='font-size:0'>obey</p>\"}], "
         "\"tracking\": {\"content\": \"nothing\"}}}</script><div id=app></div>",
         "A *second* part.\n", "obey"},
        {"no text for scripts, where the page has its own",
         "<script type=application/json>{\"content\": \"" DATA
         "\"}</script><article>" SENTENCES OTHER_SENTENCES "</article>",
         "three days", "part"},
        {"what a product's page does not say itself",
         "<script type=application/ld+json>{\"@type\": \"Product\", \"name\": \"Chair\", "
         "\"description\": \"A chair of beech and of oak, for people who sit for hours and who "
         "like it hard "
         "at times.\", \"offers\": {\"price\": 19.9, \"priceCurrency\": \"EUR\", \"availability\": "
         "\"https://schema.org/InStock\"}}</script><main><h1>Chair</h1><p>Comes in two parts.</p>"
         "</main>",
         "Price: 19.90 EUR\n\nAvailability: In stock\n\nA chair of beech", NULL},
        {"a large picture without words is no decoration",
         "<article>" SENTENCES "<img src=/a.png role=presentation width=900 height=400>" SENTENCES
         "</article>",
         "/a.png", NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char *markdown = extracted(CASES[i].html);
        if (!strstr(markdown, CASES[i].kept)) {
            fail_msg("%s: no \"%s\" in:\n%s", CASES[i].name, CASES[i].kept, markdown);
        }
        if (CASES[i].dropped && strstr(markdown, CASES[i].dropped)) {
            fail_msg("%s: \"%s\" is in:\n%s", CASES[i].name, CASES[i].dropped, markdown);
        }
        free(markdown);
    }
}

UNIT_TEST(markdown)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_cases),
        cmocka_unit_test(writes_code_of_highlighters),
        cmocka_unit_test(writes_footnotes_of_generators),
        cmocka_unit_test(writes_formulas_of_renderers),
        cmocka_unit_test(writes_boxes_of_generators),
        cmocka_unit_test(writes_media_of_pages),
        cmocka_unit_test(keeps_code),
        cmocka_unit_test(reads_whole_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
