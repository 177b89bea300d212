/* What the tests of providers and of open sources share: tables of what one is asked and of what it
 * answers, and short ways to make a request and to look at what is sent. */
#ifndef FORAGE_TESTS_UNIT_SEARCH_CASES_H
#define FORAGE_TESTS_UNIT_SEARCH_CASES_H

#include "unit.h"

#include "arena_fixture.h"

#include "config/config.h"
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>

#define CONTACT "mailto:me@example.org"

static void load_contact(const char *contact)
{
    char *environment[] = {arena_printf(arena, "FORAGE_CONTACT=%s", contact), NULL};
    struct buf problem;
    buf_init(&problem, KIB(64));
    assert_int_equal(config_load(environment, NULL, &problem), OK);
    buf_done(&problem);
}

static int set_up(void **state)
{
    int status = make_arena(state);
    if (status == 0) {
        load_contact(CONTACT);
    }
    return status;
}

static int tear_down(void **state)
{
    config_unload();
    return free_arena(state);
}

/* ---- requests ---- */

/* Everything that can be asked for. */
static inline struct search_query demanding(const char *text)
{
    return (struct search_query){
        .text = text,
        .count = 5,
        .page = 2,
        .start_date = "2026-01-31",
        .end_date = "2026-02-28",
        .region = "DE",
        .language = "pt-BR",
        .sites = {"a.org", "b.org"},
        .site_count = 2,
        .exclude_sites = {"c.org"},
        .exclude_site_count = 1,
    };
}

static inline struct search_query plain(enum search_type type, const char *text)
{
    return (struct search_query){.text = text, .count = 3, .page = 1, .type = type};
}

/* Words of nine letters, more of them than most take. */
static inline const char *long_text(void)
{
    static char text[1200];
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        text[i] = i % 10 == 9 ? ' ' : 'x';
    }
    return text;
}

static inline struct provider_request build_with(const struct provider *provider,
                                                 const struct search_query *query, const char *key)
{
    struct provider_request request = {
        .arena = arena, .query = query, .base = "http://base", .key = key};
    assert_int_equal(provider_build(provider, &request), OK);
    return request;
}

/* Open sources are asked without a key. */
static inline struct provider_request build(const struct provider *provider,
                                            const struct search_query *query)
{
    return build_with(provider, query, provider->open ? NULL : "the-key");
}

/* What is sent: the address behind the base, and the body where there is one. */
static inline const char *sent(const struct provider_request *request)
{
    assert_int_equal(strncmp(request->url, "http://base", 11), 0);
    return arena_printf(arena, "%s%s%s", request->url + 11, request->body ? " " : "",
                        request->body ? request->body : "");
}

static inline void assert_sent(const struct provider_request *request, const char *part)
{
    if (!strstr(sent(request), part)) {
        fail_msg("no %s in %s", part, sent(request));
    }
}

/* What was left out, by its names. */
static inline const char *left_out(const struct provider_request *request)
{
    char *all = arena_strdup(arena, "");
    for (size_t i = 0; i < request->left_out.count; i++) {
        const char *item = request->left_out.items[i];
        all = arena_printf(arena, "%s%s%.*s", all, i ? "," : "", (int)strcspn(item, ":"), item);
    }
    return all;
}

static inline const char *header(const struct provider_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (strcmp(request->headers[i].name, name) == 0) {
            return request->headers[i].value;
        }
    }
    return NULL;
}

struct asked_case {
    const struct provider *provider;
    enum search_type type;
    const char *sent, *left_out;
    size_t skip;
};

static inline void check_asked(const struct asked_case *cases, size_t count,
                               struct search_query query)
{
    for (size_t i = 0; i < count; i++) {
        query.type = cases[i].type;
        struct provider_request request = build(cases[i].provider, &query);
        assert_string_equal(sent(&request), cases[i].sent);
        assert_string_equal(left_out(&request), cases[i].left_out);
        assert_int_equal(request.skip, cases[i].skip);
    }
}

/* ---- answers ---- */

static inline int parse(const struct provider *provider, enum search_type type, const char *text,
                        struct hits *hits)
{
    struct search_query query = plain(type, "fish");
    return provider_read(provider, arena, text, strlen(text), &query, hits);
}

struct read_case {
    const struct provider *provider;
    enum search_type type;
    const char *text;
    struct hit hit; /* the only one */
};

static inline void check_read(const struct read_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct hits hits;
        assert_int_equal(parse(cases[i].provider, cases[i].type, cases[i].text, &hits), OK);
        assert_int_equal(hits.count, 1);
        const struct hit *got = &hits.items[0];
        const struct hit *want = &cases[i].hit;
        const char *const pairs[][2] = {
            {got->title, want->title},     {got->link, want->link},
            {got->snippet, want->snippet}, {got->published, want->published},
            {got->image, want->image},
        };
        for (size_t j = 0; j < COUNT(pairs); j++) {
            assert_true(!pairs[j][0] == !pairs[j][1]);
            if (pairs[j][1]) {
                assert_string_equal(pairs[j][0], pairs[j][1]);
            }
        }
    }
}

struct shape_case {
    const struct provider *provider;
    enum search_type type;
    const char *text;
    int status;
    size_t count;
};

static inline void check_shapes(const struct shape_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct hits hits;
        int status = parse(cases[i].provider, cases[i].type, cases[i].text, &hits);
        if (status != cases[i].status) {
            fail_msg("%s: %d for %s", cases[i].provider->name, status, cases[i].text);
        }
        assert_int_equal(status == OK ? hits.count : 0, cases[i].count);
    }
}

#endif
