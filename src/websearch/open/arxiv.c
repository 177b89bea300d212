/* arXiv (https://info.arxiv.org/help/api): GET /api/query with search_query, start and max_results;
 * the answer is Atom. Its operator asks for one request in three seconds, one after the other. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>

#define WORDS_OF_A_SENTENCE 7 /* so many words are seldom all in one paper */

/* Names of fields and operators are not for words that stand in a query. */
static bool is_operator(const char *word, size_t length)
{
    static const char *const OPERATORS[] = {"AND", "OR", "ANDNOT"};
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        if (strlen(OPERATORS[i]) == length && memcmp(word, OPERATORS[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* The length of the word, or of the phrase between quotes, at `at`. */
static size_t term_length(const char *at)
{
    return *at == '"' ? 2 + strcspn(at + 1, "\"") : strcspn(at, " \"");
}

static size_t count_terms(const char *words)
{
    size_t count = 0;
    while (*(words += strspn(words, " "))) {
        words += term_length(words);
        count++;
    }
    return count;
}

/* "all:quantum AND all:"error correction"": every word, unless they are a whole sentence. */
static void put_terms(struct buf *out, const char *words)
{
    const char *between = count_terms(words) < WORDS_OF_A_SENTENCE ? " AND " : " OR ";
    bool any = false;
    while (*(words += strspn(words, " "))) {
        size_t length = term_length(words);
        if (!is_operator(words, length)) {
            buf_printf(out, "%sall:%.*s", any ? between : "", (int)length, words);
            any = true;
        }
        words += length;
    }
}

static void put_digits(struct buf *out, const char *date)
{
    buf_printf(out, "%.4s%.2s%.2s", date, date + 5, date + 8);
}

/* "[202601310000 TO 202602282359]", in GMT. */
static void put_span(struct buf *out, const char *since, const char *until)
{
    buf_puts(out, " AND submittedDate:[");
    put_digits(out, since ? since : "1991-01-01");
    buf_puts(out, "0000 TO ");
    put_digits(out, until);
    buf_puts(out, "2359]");
}

static int build(struct provider_request *request)
{
    struct buf text;
    const struct search_query *query = request->query;
    const char *words = words_only(request->arena, query->text, "\"-._'");
    const char *since = query_since(request->arena, query);
    const char *until = query->end_date ? query->end_date : query_days_ago(request->arena, 0);
    if (!words || !until) {
        return ERR_NOMEM;
    }
    buf_init(&text, LIMIT_SEARCH_REQUEST_BYTES);
    bool dated = since || query->end_date;
    buf_puts(&text, dated ? "(" : "");
    put_terms(&text, words);
    if (dated) {
        buf_putc(&text, ')');
        put_span(&text, since, until);
    }
    const char *whole = buf_to_arena(&text, request->arena);
    provider_put(request, "search_query", whole);
    provider_put_number(request, "start", query->count * (query->page - 1));
    provider_put_number(request, "max_results", query->count);
    provider_put(request, "sortBy", "relevance");
    provider_put(request, "sortOrder", "descending");
    source_lacks(request, LACKS_SITES | LACKS_REGION | LACKS_LANGUAGE);
    return whole ? OK : ERR_NOMEM;
}

/* A search that it cannot read gives a feed with one entry, which says why. */
static bool is_error(const struct hits *hits)
{
    return hits->count == 1 && strcmp(hits->items[0].title, "Error") == 0;
}

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    int status = feed_hits(arena, body, length, query, false, hits);
    if (status != OK) {
        return status;
    }
    for (size_t i = 0; i < hits->count; i++) {
        struct hit *hit = &hits->items[i];
        if (strncmp(hit->link, "http://arxiv.org/", 17) == 0) {
            hit->link = arena_printf(arena, "https%s", hit->link + 4);
        }
    }
    return is_error(hits) ? ERR_INVALID : arena_failed(arena) ? ERR_NOMEM : OK;
}

static const struct source_terms TERMS = {
    .pace = PACE_OF_ARXIV,
    .contact = CONTACT_WELCOME,
    .attribution = "Thank you to arXiv for use of its open access interoperability.",
};

const struct provider SOURCE_ARXIV = {
    .name = "arxiv",
    .title = "arXiv",
    .base_variable = "ARXIV_BASE_URL",
    .one_at_a_time = true,
    .accept = "application/atom+xml",
    .open = &TERMS,
    .paths = {[SEARCH_SCHOLAR] = "/api/query"},
    .build = build,
    .read = read_answer,
};
