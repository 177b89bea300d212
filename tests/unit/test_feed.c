/* Feeds: each format as a list, dates, and what is no feed. */
#include "core/limits.h"
#include "core/status.h"
#include "loaders/bodies.h"

#include "unit.h"

#include <stdint.h>
#include <string.h>

static int make_arena(void **state)
{
    *state = arena_new(MIB(64));
    return *state ? 0 : -1;
}

static int free_arena(void **state)
{
    *state = arena_free(*state);
    return 0;
}

static const char *markdown(struct arena *arena, const char *xml, struct document *document)
{
    struct feed *feed = arena_alloc(arena, sizeof *feed);
    *document = (struct document){0};
    assert_non_null(feed);
    if (feed_parse(arena, xml, strlen(xml), feed) != OK) {
        return NULL;
    }
    assert_int_equal(feed_write(arena, feed, "https://example.org/feed", document), OK);
    return document->markdown;
}

static void writes_lists(void **state)
{
    static const struct {
        const char *xml, *markdown;
    } CASES[] = {
        /* RSS 2.0 with HTML in a summary, a CDATA section, a relative link and a guid that is no
           address. */
        {"<?xml version='1.0'?><rss version='2.0' xmlns:dc='x' xmlns:content='y'><channel>"
         "<title>News &amp; more</title><link>https://example.org/</link>"
         "<description>All of it</description>"
         "<item><title>First</title><link>/one</link><pubDate>Tue, 10 Jun 2003 04:00:00 "
         "GMT</pubDate>"
         "<description>&lt;p&gt;It is &lt;code&gt;vector&amp;lt;int&amp;gt;&lt;/code&gt;.&lt;/p&gt;"
         "</description><dc:creator>Ann</dc:creator><content:encoded>long</content:encoded></item>"
         "<item><title><![CDATA[A < B]]></title><guid isPermaLink='false'>tag: 7</guid></item>"
         "</channel></rss>",
         "# News & more\n\nAll of it\n\n"
         "- [First](https://example.org/one) · 2003-06-10 · Ann\n  It is `vector<int>`.\n"
         "- **A < B**\n"},
        /* RSS 1.0: the items stand beside the channel. */
        {"<rdf:RDF xmlns:rdf='r' xmlns='http://purl.org/rss/1.0/' xmlns:dc='d'>"
         "<channel rdf:about='u'><title>RDF</title><items><rdf:Seq/></items></channel>"
         "<item rdf:about='v'><title>One</title><link>https://example.org/1</link>"
         "<dc:date>2004-05-06T07:08:09Z</dc:date></item></rdf:RDF>",
         "# RDF\n\n- [One](https://example.org/1) · 2004-05-06\n"},
        /* RSS 0.91, without dates. */
        {"<!DOCTYPE rss PUBLIC 'x' 'y'><rss version='0.91'><channel><title>Old</title>"
         "<item><title>One</title><link>https://example.org/1</link></item></channel></rss>",
         "# Old\n\n- [One](https://example.org/1)\n"},
        /* Atom: links by their relation, an author with an address, XHTML inside. */
        {"<feed xmlns='http://www.w3.org/2005/Atom'><title>Atom</title><subtitle>Sub</subtitle>"
         "<link rel='self' href='https://example.org/self'/><link href='https://example.org/'/>"
         "<entry><title type='html'>&lt;b&gt; in it</title>"
         "<link rel='enclosure' href='https://example.org/x.mp3'/>"
         "<link rel='alternate' href='https://example.org/1'/><id>urn:1</id>"
         "<updated>2020-01-02T03:04:05Z</updated><published>2019-01-02T03:04:05Z</published>"
         "<author><name>Bob</name><email>b@example.org</email></author>"
         "<summary type='xhtml'><div xmlns='h'>Some <em>words</em></div></summary></entry></feed>",
         "# Atom\n\nSub\n\n- [<b> in it](https://example.org/1) · 2019-01-02 · Bob\n"
         "  Some *words*\n"},
        /* Atom with a prefix. */
        {"<a:feed xmlns:a='x'><a:title>P</a:title><a:entry><a:title>E</a:title>"
         "<a:link href='https://example.org/e'/></a:entry></a:feed>",
         "# P\n\n- [E](https://example.org/e)\n"},
        {"<rss><channel><title>None</title></channel></rss>",
         "# None\n\nThere are no items in this feed.\n"},
        /* Not feeds. */
        {"<html><body/></html>", NULL},
        {"<urlset><url/></urlset>", NULL},
        {"{}", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct document document;
        const char *found = markdown(*state, CASES[i].xml, &document);
        if (!CASES[i].markdown) {
            assert_null(found);
            continue;
        }
        assert_string_equal(found, CASES[i].markdown);
        assert_string_equal(document.kind, "feed");
        assert_false(document.cut);
    }
}

static void keeps_what_was_whole(void **state)
{
    struct document document;
    const char *found = markdown(
        *state,
        "<rss><channel><title>T</title><item><title>One</title></item><item><title>Two</item>",
        &document);
    assert_string_equal(found, "# T\n\n- **One**\n");
    assert_true(document.cut);
}

static void bounds_items_and_summaries(void **state)
{
    struct buf xml;
    struct document document;
    buf_init(&xml, MIB(4));
    buf_puts(&xml, "<rss><channel><title>T</title>");
    for (int i = 0; i < LIMIT_FEED_ITEMS + 50; i++) {
        buf_printf(&xml, "<item><title>i%d</title><description>", i);
        for (int word = 0; i == 0 && word < 1000; word++) {
            buf_puts(&xml, "word ");
        }
        buf_puts(&xml, "</description></item>");
    }
    buf_puts(&xml, "</channel></rss>");
    const char *found = markdown(*state, xml.data, &document);
    size_t items = 0;
    for (const char *at = found; (at = strstr(at, "\n- **i")); at++) {
        items++;
    }
    assert_int_equal(items, LIMIT_FEED_ITEMS);
    assert_true(document.cut);
    assert_non_null(strstr(found, "word …\n"));
    assert_true(strstr(found, "word …\n") - found < LIMIT_FEED_SUMMARY_CHARS + 100);
    buf_done(&xml);
}

static void reads_dates(void **state)
{
    static const struct {
        const char *date, *day;
    } CASES[] = {
        {"Tue, 10 Jun 2003 04:00:00 GMT", "2003-06-10"},
        {"10 Jun 03 04:00 +0200", "2003-06-10"},
        {"1 january 1999", "1999-01-01"},
        {"2003-12-13T18:30:02Z", "2003-12-13"},
        {"2003-12-13", "2003-12-13"},
        {"yesterday", "yesterday"},
        {"", ""},
        {"99 Jun 2003", "99 Jun 2003"},
        {"7", "7"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct document document;
        const char *xml = arena_printf(*state,
                                       "<rss><channel><title>T</title><pubDate>%s</pubDate><item>"
                                       "<title>One</title><pubDate>%s</pubDate></item></channel>"
                                       "</rss>",
                                       CASES[i].date, CASES[i].date);
        assert_string_equal(markdown(*state, xml, &document),
                            *CASES[i].day
                                ? arena_printf(*state, "# T\n\n- **One** · %s\n", CASES[i].day)
                                : "# T\n\n- **One**\n");
        if (*CASES[i].day) {
            assert_string_equal(document.published, CASES[i].day);
        } else {
            assert_null(document.published);
        }
    }
}

UNIT_TEST(feed)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_lists, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(keeps_what_was_whole, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(bounds_items_and_summaries, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(reads_dates, make_arena, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
