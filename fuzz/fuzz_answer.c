/* Fuzzes what the service of search_web sends: the parts of replies, the positions of citations,
 * snippets, dates, tracking parameters, and rules of guardrails. Whatever comes: texts are valid
 * UTF-8, positions are inside the text and in order, and no tracking parameter is left. The input
 * is also read as one text with citations at positions that it holds itself, so that the fuzzer
 * need not find the way through JSON, and as what a model says about a page with the same words:
 * whatever that is, only the page is cited, and only sentences are kept. */
#include "answer/citations.h"
#include "answer/claims.h"
#include "answer/question.h"
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "model/stream.h"
#include "text/text.h"
#include "world/world.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_answer: %s\n", what);
        abort();
    }
}

static void check_cited(struct arena *arena, const struct model_part *parts, size_t count)
{
    struct cited_text cited;
    struct citation_wishes wishes = {.most = 8, .now = 1794736800, .freshness_hours = 24};
    if (citations_make(arena, parts, count, &wishes, &cited) != OK) {
        return;
    }
    require(strlen(cited.text) == cited.length, "the length of the text");
    require(text_is_utf8(cited.text, cited.length), "the text is not UTF-8");
    size_t points = text_count(cited.text, cited.length);
    int last = 0;
    for (size_t i = 0; i < cited.count; i++) {
        const struct citation *citation = &cited.citations[i];
        require(citation->start <= citation->end && citation->end <= points, "a position");
        require(citation->rank == last || citation->rank == last + 1, "a rank");
        require(citation->rank > 0 && citation->rank <= (int)wishes.most, "too many sources");
        last = citation->rank;
        require(text_is_utf8(citation->snippet, strlen(citation->snippet)), "a snippet");
        require(text_count(citation->snippet, strlen(citation->snippet)) <= LIMIT_SNIPPET_CHARS + 3,
                "the length of a snippet");
        require(text_is_utf8(citation->title, strlen(citation->title)), "a title");
        const char *query = strpbrk(citation->url, "?#");
        require(!query || strncasecmp(query, "?utm_source=", 12) != 0, "a tracking parameter");
    }
    struct cuts cuts;
    require(tracking_find(arena, cited.text, cited.length, &cuts) == OK, "memory");
}

/* The text itself, with annotations whose positions are some of its bytes. */
static void check_as_text(struct arena *arena, const char *text, size_t size)
{
    struct model_annotation annotations[4];
    const char *url = strstr(text, "http");
    for (size_t i = 0; i < 4; i++) {
        annotations[i] = (struct model_annotation){
            .url = i % 2 && url ? url : "https://a.example/x",
            .title = "t",
            .start = size > 2 * i ? (unsigned char)text[2 * i] : -1,
            .end = size > 2 * i + 1 ? (unsigned char)text[2 * i + 1] : (int64_t)size,
        };
    }
    struct model_part parts[] = {
        {.text = text,
         .length = size,
         .begins_message = true,
         .annotations = annotations,
         .annotation_count = 4},
        {.text = text,
         .length = size,
         .begins_message = true,
         .annotations = annotations,
         .annotation_count = 2},
    };
    check_cited(arena, parts, 2);
}

/* What a model says, of a page that says the same. */
static void check_as_claims(struct arena *arena, const char *text)
{
    static const char URL[] = "https://a.example/x?utm_source=y";
    struct claim claims[CLAIMS_MOST];
    struct claims_text written;
    struct sources sources = {0};
    struct evidence *evidence = evidence_new(arena);
    bool none;
    if (!evidence || !sources_add(arena, &sources, URL, "t", "s")) {
        return;
    }
    sources.items[0].page = evidence_add_page(evidence, URL, "t", text, 1);
    size_t count = claims_read(arena, text, claims, &none);
    require(count <= CLAIMS_MOST && !(none && count), "the number of claims");
    if (claims_write(arena, evidence, &sources, claims, count, &written) != OK) {
        return;
    }
    size_t points = text_count(written.part.text, written.part.length);
    require(written.kept + written.left_out <= count, "the number of sentences");
    require(!written.kept == !written.part.annotation_count, "a sentence without a marker");
    for (size_t i = 0; i < written.part.annotation_count; i++) {
        const struct model_annotation *annotation = &written.part.annotations[i];
        require(annotation->start < annotation->end && (size_t)annotation->end <= points,
                "the place of a marker");
    }
    if (written.kept) {
        check_cited(arena, &written.part, 1);
    }
}

/* What a service sends, in one piece. */
static void check_as_reply(struct arena *arena, const char *text, size_t size)
{
    static const struct model_provider PROVIDER = {.name = "fuzz"};
    struct stream *stream = stream_new(arena, &DIALECT_RESPONSES, &PROVIDER);
    struct model_reply reply = {0};
    const char *problem;
    require(stream != NULL, "memory");
    stream_feed(stream, text, size);
    struct draft *draft = stream_end(stream, &problem);
    if (!problem && !draft->failed && draft_finish(draft, 0, &reply) == OK) {
        check_cited(arena, reply.parts, reply.part_count);
    }
    stream_free(stream);
}

FUZZ_TARGET(answer)
{
    struct arena *arena = arena_new(MIB(64));
    char *text = arena ? arena_strndup(arena, (const char *)data, size) : NULL;
    if (!text) {
        arena_free(arena);
        return 0;
    }
    check_as_reply(arena, text, size);
    if (text_is_utf8(text, size) && !memchr(text, '\0', size)) {
        check_as_text(arena, text, size);
        check_as_claims(arena, text);
    }
    static struct guardrails *balanced;
    char words[256];
    struct guardrail_refusal refusal;
    balanced = balanced ? balanced : guardrails_new("balanced", words, sizeof words);
    require(balanced && guardrails_read(balanced) == OK, "the balanced rules");
    guardrails_refuse(balanced, text, &refusal);
    struct guardrails *rules = guardrails_parse(text, size, words, sizeof words);
    if (rules) {
        guardrails_refuse(rules, "polymarket odds of an election", &refusal);
    }
    guardrails_free(rules);
    arena_free(arena);
    return 0;
}
