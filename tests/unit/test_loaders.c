/* Which URLs belong to which loader: a table, and what each loader understands of its own. */
#include "core/limits.h"
#include "core/status.h"
#include "loaders/bodies.h"
#include "loaders/sites.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int make_arena(void **state)
{
    *state = arena_new(MIB(16));
    return *state ? 0 : -1;
}

static int free_arena(void **state)
{
    *state = arena_free(*state);
    return 0;
}

static struct url parsed(struct arena *arena, const char *text)
{
    struct url url;
    const char *problem = NULL;
    if (url_parse(arena, text, &url, &problem) != OK) {
        fail_msg("%s: %s", text, problem ? problem : "no memory");
    }
    return url;
}

static void knows_whose_a_url_is(void **state)
{
    static const struct {
        const char *url;
        const char *loader; /* NULL: an ordinary page */
    } CASES[] = {
        /* StackExchange: its sites, in each form. */
        {"https://stackoverflow.com/questions/11227809/why-is-it-faster", "stackexchange"},
        {"https://stackoverflow.com/questions/11227809", "stackexchange"},
        {"https://stackoverflow.com/questions/11227809/why/11227902", "stackexchange"},
        {"https://stackoverflow.com/questions/11227809/why#11227902", "stackexchange"},
        {"https://stackoverflow.com/q/11227809", "stackexchange"},
        {"https://stackoverflow.com/q/11227809/1234", "stackexchange"},
        {"https://stackoverflow.com/a/11227902", "stackexchange"},
        {"https://stackoverflow.com/a/11227902/1234", "stackexchange"},
        {"http://www.stackoverflow.com/questions/1", "stackexchange"},
        {"https://m.stackoverflow.com/questions/1", "stackexchange"},
        {"https://stackoverflow.com/questions/1?tab=votes", "stackexchange"},
        {"https://meta.stackoverflow.com/questions/1", "stackexchange"},
        {"https://ru.stackoverflow.com/questions/1/x", "stackexchange"},
        {"https://pt.meta.stackoverflow.com/questions/1", "stackexchange"},
        {"https://superuser.com/questions/1/x", "stackexchange"},
        {"https://meta.superuser.com/questions/1/x", "stackexchange"},
        {"https://serverfault.com/a/2", "stackexchange"},
        {"https://www.askubuntu.com/q/3", "stackexchange"},
        {"https://mathoverflow.net/questions/4/x", "stackexchange"},
        {"https://meta.mathoverflow.net/questions/4/x", "stackexchange"},
        {"https://stackapps.com/questions/5/x", "stackexchange"},
        {"https://math.stackexchange.com/questions/6/x", "stackexchange"},
        {"https://meta.stackexchange.com/questions/7/x", "stackexchange"},
        {"https://cooking.meta.stackexchange.com/questions/8/x", "stackexchange"},
        {"https://meta.cooking.stackexchange.com/questions/8/x", "stackexchange"},
        {"https://tex.stackexchange.com/a/9", "stackexchange"},
        /* Not theirs, or nothing that the interface answers. */
        {"https://example.com/questions/11227809/why", NULL},
        {"https://community.example.org/questions/1", NULL},
        {"https://notstackoverflow.com/questions/1", NULL},
        {"https://stackoverflow.com.example.org/questions/1", NULL},
        {"https://chat.stackoverflow.com/questions/1", NULL},
        {"https://stackoverflow.blog/questions/1", NULL},
        {"https://stackoverflow.com/questions/tagged/c", NULL},
        {"https://stackoverflow.com/questions/ask", NULL},
        {"https://stackoverflow.com/questions", NULL},
        {"https://stackoverflow.com/users/1/x", NULL},
        {"https://stackoverflow.com/tags", NULL},
        {"https://stackoverflow.com/", NULL},
        {"https://stackoverflow.com:8443/questions/1", NULL},
        {"https://stackexchange.com/questions/1", NULL},
        {"https://api.stackexchange.com/questions/1", NULL},
        {"https://data.stackexchange.com/questions/1", NULL},
        {"https://area51.stackexchange.com/questions/1", NULL},
        {"https://a.b.stackexchange.com/questions/1", NULL},
        {"https://nosuchsite.stackexchange.com/questions/1", NULL},
        {"https://math%26site=stackoverflow.stackexchange.com/questions/1", NULL},
        {"https://math%26key=x.meta.stackexchange.com/questions/1", NULL},
        {"https://meta.a%26b.stackexchange.com/questions/1", NULL},
        {"https://es%26x.stackoverflow.com/questions/1", NULL},
        {"https://meta.cooking.meta.stackexchange.com/questions/1", NULL},
        {"https://meta.meta.stackexchange.com/questions/1", NULL},
        {"https://superuser.com.evil.org/questions/1", NULL},
        {"https://x.superuser.com/questions/1", NULL},
        /* GitHub. */
        {"https://github.com/torvalds/linux", "github"},
        {"https://github.com/torvalds/linux/", "github"},
        {"https://www.github.com/torvalds/linux", "github"},
        {"https://github.com/torvalds/linux.git", "github"},
        {"https://github.com/curl/curl/issues/1234", "github"},
        {"https://github.com/curl/curl/issues/1234#issuecomment-1", "github"},
        {"https://github.com/curl/curl/pull/1234", "github"},
        {"https://github.com/curl/curl/pull/1234/files", "github"},
        {"https://github.com/curl/curl/pulls/1234", "github"},
        {"https://github.com/vercel/next.js/discussions/42", "github"},
        {"https://github.com/curl/curl/blob/master/lib/url.c", "github"},
        {"https://github.com/curl/curl/blob/master/lib/url.c#L10-L20", "github"},
        {"https://github.com/curl/curl/raw/master/lib/url.c", "github"},
        {"https://raw.githubusercontent.com/curl/curl/master/lib/url.c", "github"},
        {"https://github.com/curl/curl/tree/master", "github"},
        {"https://github.com/curl/curl/tree/master/docs", "github"},
        {"https://github.com/curl/curl/releases", "github"},
        {"https://github.com/curl/curl/releases/latest", "github"},
        {"https://github.com/curl/curl/releases/tag/curl-8_0_0", "github"},
        {"https://www.youtube.com/watch?v=dQw4w9WgXcQ", "youtube"},
        {"https://m.youtube.com/watch?list=x&v=dQw4w9WgXcQ&t=10", "youtube"},
        {"https://youtu.be/dQw4w9WgXcQ?t=10", "youtube"},
        {"https://www.youtube.com/shorts/dQw4w9WgXcQ", "youtube"},
        {"https://www.youtube.com/live/dQw4w9WgXcQ", "youtube"},
        {"https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ", "youtube"},
        {"https://www.youtube.com/watch?v=short", NULL},
        {"https://www.youtube.com/watch?v=dQw4w9WgX.Q", NULL},
        {"https://www.youtube.com/watch", NULL},
        {"https://www.youtube.com/@channel", NULL},
        {"https://notyoutube.com/watch?v=dQw4w9WgXcQ", NULL},
        {"https://youtu.be/", NULL},
        {"https://news.ycombinator.com/item?id=8863", "hackernews"},
        {"https://news.ycombinator.com/item?p=2&id=8863#9224", "hackernews"},
        {"https://news.ycombinator.com/item?id=", NULL},
        {"https://news.ycombinator.com/item?id=x", NULL},
        {"https://news.ycombinator.com/item?id=1234567890123456789", NULL},
        {"https://news.ycombinator.com/item", NULL},
        {"https://news.ycombinator.com/news?id=1", NULL},
        {"https://evil.news.ycombinator.com/item?id=1", NULL},
        {"https://www.reddit.com/r/rust/comments/1abc2d/a_title/", "reddit"},
        {"https://old.reddit.com/r/rust/comments/1abc2d/a_title/kxyz12/?context=3", "reddit"},
        {"https://reddit.com/user/someone/comments/1abc2d/x", "reddit"},
        {"https://www.reddit.com/comments/1abc2d", "reddit"},
        {"https://redd.it/1abc2d", "reddit"},
        {"https://redd.it/", NULL},
        {"https://www.reddit.com/r/rust/", NULL},
        {"https://www.reddit.com/r/rust/comments/", NULL},
        {"https://www.reddit.com/r/rust/comments/1ABC../x", NULL},
        {"https://notreddit.com/r/rust/comments/1abc2d/", NULL},
        {"https://mastodon.social/@ada/112233445566778899", "mastodon"},
        {"https://mastodon.social/@ada@other.example/112233445566778899", "mastodon"},
        {"https://mastodon.social/users/ada/statuses/112233445566778899", "mastodon"},
        {"https://mastodon.social/web/statuses/112233445566778899", "mastodon"},
        {"https://mastodon.social/@ada", NULL},
        {"https://mastodon.social/@/112233445566778899", NULL},
        {"https://medium.com/@ada/how-to-112233445566", NULL},
        {"https://example.org/@ada/12", NULL},
        {"https://meta.discourse.org/t/a-topic/12345", "discourse"},
        {"https://meta.discourse.org/t/a-topic/12345/67", "discourse"},
        {"https://meta.discourse.org/t/12345", "discourse"},
        {"https://example.org/forum/t/a-topic/12345", "discourse"},
        {"https://example.org/t/a-topic", NULL},
        {"https://example.org/a/b/t/a-topic/12345", NULL},
        {"https://example.org/t/a/b/c/d/12345", NULL},
        {"https://lemmy.world/post/12345", "lemmy"},
        {"https://lemmy.world/comment/12345", "lemmy"},
        {"https://lemmy.world/post/12345/more", NULL},
        {"https://lemmy.world:8443/post/12345", NULL},
        {"https://example.org/post/how-to", NULL},
        {"https://github.com/", NULL},
        {"https://github.com/torvalds", NULL},
        {"https://github.com/features/actions", NULL},
        {"https://github.com/topics/mcp", NULL},
        {"https://github.com/orgs/curl", NULL},
        {"https://github.com/marketplace/x", NULL},
        {"https://github.com/curl/curl/issues", NULL},
        {"https://github.com/curl/curl/issues/new", NULL},
        {"https://github.com/curl/curl/pulls", NULL},
        {"https://github.com/curl/curl/wiki", NULL},
        {"https://github.com/curl/curl/commit/abc", NULL},
        {"https://github.com/curl/curl/blob/master", NULL},
        {"https://github.com/curl/curl/releases/download/x/y.zip", NULL},
        {"https://gist.github.com/someone/abc", NULL},
        {"https://api.github.com/repos/curl/curl", NULL},
        {"https://docs.github.com/en/rest", NULL},
        {"https://raw.githubusercontent.com/curl/curl/master", NULL},
        {"https://github.com.example.org/a/b", NULL},
        {"https://gitlab.com/a/b/issues/1", NULL},
        /* Wikipedia. */
        {"https://en.wikipedia.org/wiki/Foraging", "wikipedia"},
        {"https://en.m.wikipedia.org/wiki/Foraging", "wikipedia"},
        {"https://zh-min-nan.wikipedia.org/wiki/X", "wikipedia"},
        {"https://de.wikipedia.org/wiki/Stra%C3%9Fe#Geschichte", "wikipedia"},
        {"https://en.wikipedia.org/wiki/AC/DC", "wikipedia"},
        {"https://en.wikipedia.org/w/index.php?title=Foraging", "wikipedia"},
        {"https://en.wikipedia.org/?curid=12345", "wikipedia"},
        {"https://zh.wikipedia.org/zh-cn/X", "wikipedia"},
        {"https://www.wikipedia.org/wiki/Foraging", "wikipedia"},
        {"https://wikipedia.org/wiki/Foraging", "wikipedia"},
        {"https://en.wikipedia.org/", NULL},
        {"https://www.wikipedia.org/", NULL},
        {"https://en.wikipedia.org/wiki/", NULL},
        {"https://en.wikipedia.org/wiki/Special:Search?search=x", NULL},
        {"https://en.wikipedia.org/w/index.php?title=X&action=history", NULL},
        {"https://en.wikipedia.org/w/index.php?title=X&oldid=1", NULL},
        {"https://en.wikipedia.org/w/api.php?action=parse&page=X", NULL},
        {"https://wikipedia.org.example.com/wiki/X", NULL},
        {"https://notwikipedia.org/wiki/X", NULL},
        {"https://wiki.archlinux.org/wiki/Pacman", NULL},
        {"https://a.b.wikipedia.org/wiki/X", NULL},
        /* arXiv. */
        {"https://arxiv.org/abs/1706.03762", "arxiv"},
        {"https://arxiv.org/abs/1706.03762v5", "arxiv"},
        {"https://www.arxiv.org/abs/1706.03762", "arxiv"},
        {"https://export.arxiv.org/abs/1706.03762", "arxiv"},
        {"https://arxiv.org/pdf/1706.03762", "arxiv"},
        {"https://arxiv.org/pdf/1706.03762.pdf", "arxiv"},
        {"https://arxiv.org/pdf/1706.03762v2.pdf", "arxiv"},
        {"https://arxiv.org/html/2301.00001v1", "arxiv"},
        {"https://arxiv.org/html/2301.00001/", "arxiv"},
        {"https://arxiv.org/abs/hep-th/9901001", "arxiv"},
        {"https://arxiv.org/abs/math.GT/0309136v1", "arxiv"},
        {"https://arxiv.org/pdf/cond-mat/0207270.pdf", "arxiv"},
        {"https://ar5iv.labs.arxiv.org/html/1706.03762", "arxiv"},
        {"https://arxiv.org/", NULL},
        {"https://arxiv.org/list/cs.CL/recent", NULL},
        {"https://arxiv.org/search/?query=x", NULL},
        {"https://arxiv.org/abs/17.03762", NULL},
        {"https://arxiv.org/abs/1706.037623", NULL},
        {"https://arxiv.org/abs/1706.03762x", NULL},
        {"https://arxiv.org/abs/hep-th/99", NULL},
        {"https://arxiv.org.example.com/abs/1706.03762", NULL},
        {"https://example.com/abs/1706.03762", NULL},
        /* Anything else. */
        {"https://example.com/", NULL},
        {"https://example.com/paper.pdf", NULL},
        {"http://127.0.0.1/wiki/X", NULL},
    };
    size_t claimed = 0;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct url url = parsed(*state, CASES[i].url);
        const struct loader *loader = loader_for(&url);
        const char *name = loader ? loader->name : NULL;
        if ((name == NULL) != (CASES[i].loader == NULL) ||
            (name && strcmp(name, CASES[i].loader) != 0)) {
            fail_msg("%s: %s, not %s", CASES[i].url, name ? name : "nobody",
                     CASES[i].loader ? CASES[i].loader : "nobody");
        }
        claimed += name != NULL;
    }
    assert_true(COUNT(CASES) >= 80);
    assert_true(claimed >= 40);
}

static void understands_stackexchange(void **state)
{
    static const struct {
        const char *url, *site, *id;
        bool is_answer;
        long long linked;
    } CASES[] = {
        {"https://stackoverflow.com/questions/12/x", "stackoverflow.com", "12", false, 0},
        {"https://www.stackoverflow.com/q/12/99", "stackoverflow.com", "12", false, 0},
        {"https://stackoverflow.com/questions/12/x/34#34", "stackoverflow.com", "12", false, 34},
        {"https://stackoverflow.com/questions/12/x#34", "stackoverflow.com", "12", false, 34},
        {"https://stackoverflow.com/a/34/99", "stackoverflow.com", "34", true, 34},
        {"https://meta.cooking.stackexchange.com/q/5", "cooking.meta.stackexchange.com", "5", false,
         0},
        {"https://meta.stackexchange.com/q/5", "meta.stackexchange.com", "5", false, 0},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct url url = parsed(*state, CASES[i].url);
        struct stackexchange_post post;
        assert_true(stackexchange_find(&url, &post));
        assert_string_equal(post.site, CASES[i].site);
        assert_int_equal(post.id.length, strlen(CASES[i].id));
        assert_memory_equal(post.id.data, CASES[i].id, post.id.length);
        assert_int_equal(post.is_answer, CASES[i].is_answer);
        assert_int_equal(post.linked, CASES[i].linked);
    }
}

static void understands_github(void **state)
{
    static const struct {
        const char *url;
        const char *expected; /* kind owner/repository ref number path */
    } CASES[] = {
        {"https://github.com/o/r", "0 o/r - - -"},
        {"https://github.com/o/r.git", "0 o/r - - -"},
        {"https://github.com/o/r/tree/v1.0/docs/a", "0 o/r v1.0 - docs/a"},
        {"https://github.com/o/r/issues/7", "1 o/r - 7 -"},
        {"https://github.com/o/r/pull/8/files", "2 o/r - 8 -"},
        {"https://github.com/o/r/discussions/9", "3 o/r - 9 -"},
        {"https://github.com/o/r/blob/main/a/b/c/d/e/f/g/h.c", "4 o/r main - a/b/c/d/e/f/g/h.c"},
        {"https://raw.githubusercontent.com/o/r/main/a%20b.md", "4 o/r main - a%20b.md"},
        {"https://github.com/o/r/releases", "5 o/r - - -"},
        {"https://github.com/o/r/releases/latest", "6 o/r - - -"},
        {"https://github.com/o/r/releases/tag/pkg/v1", "6 o/r pkg/v1 - -"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct url url = parsed(*state, CASES[i].url);
        struct github_page page;
        char found[256];
        assert_true(github_find(&url, &page));
        snprintf(found, sizeof found, "%d %.*s/%.*s %.*s %.*s %s", (int)page.kind,
                 (int)page.owner.length, page.owner.data, (int)page.repository.length,
                 page.repository.data, page.ref.length ? (int)page.ref.length : 1,
                 page.ref.length ? page.ref.data : "-",
                 page.number.length ? (int)page.number.length : 1,
                 page.number.length ? page.number.data : "-", *page.path ? page.path : "-");
        assert_string_equal(found, CASES[i].expected);
    }
}

static void understands_wikipedia(void **state)
{
    static const struct {
        const char *url, *language, *title;
    } CASES[] = {
        {"https://en.wikipedia.org/wiki/AC/DC", "en", "AC/DC"},
        {"https://de.m.wikipedia.org/wiki/X", "de", "X"},
        {"https://www.wikipedia.org/wiki/X", "en", "X"},
        {"https://zh.wikipedia.org/zh-hans/X", "zh", "X"},
        {"https://fr.wikipedia.org/w/index.php?a=b&title=Y", "fr", "Y"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct url url = parsed(*state, CASES[i].url);
        struct wikipedia_page page;
        assert_true(wikipedia_find(&url, &page));
        assert_string_equal(page.language, CASES[i].language);
        assert_int_equal(page.title.length, strlen(CASES[i].title));
        assert_memory_equal(page.title.data, CASES[i].title, page.title.length);
    }
}

static void understands_arxiv(void **state)
{
    static const struct {
        const char *url, *id;
    } CASES[] = {
        {"https://arxiv.org/pdf/1706.03762v5.pdf", "1706.03762v5"},
        {"https://arxiv.org/abs/0704.0001", "0704.0001"},
        {"https://arxiv.org/pdf/math.GT/0309136v1.pdf", "math.GT/0309136v1"},
        {"https://arxiv.org/abs/hep-th/9901001/", "hep-th/9901001"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct url url = parsed(*state, CASES[i].url);
        char id[ARXIV_ID_SIZE];
        assert_true(arxiv_find(&url, id));
        assert_string_equal(id, CASES[i].id);
    }
}

static void knows_files_by_their_names(void **state)
{
    static const struct {
        const char *name;
        enum plain_kind kind;
        const char *language;
    } CASES[] = {
        {"README.md", PLAIN_MARKDOWN, ""},
        {"docs/a.MD", PLAIN_MARKDOWN, ""},
        {"lib/url.c", PLAIN_CODE, "c"},
        {"a/b.tar.py?x=1", PLAIN_CODE, "python"},
        {"package.json", PLAIN_JSON, "json"},
        {"Dockerfile", PLAIN_CODE, "dockerfile"},
        {"src/Makefile", PLAIN_CODE, "makefile"},
        {"notes.txt", PLAIN_TEXT, ""},
        {"LICENSE", PLAIN_TEXT, ""},
        {".c", PLAIN_TEXT, ""},
        {"", PLAIN_TEXT, ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct plain_form form = plain_form_of(CASES[i].name);
        assert_int_equal(form.kind, CASES[i].kind);
        assert_string_equal(form.language, CASES[i].language);
    }
}

UNIT_TEST(loaders)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(knows_whose_a_url_is, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(understands_stackexchange, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(understands_github, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(understands_wikipedia, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(understands_arxiv, make_arena, free_arena),
        cmocka_unit_test(knows_files_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
