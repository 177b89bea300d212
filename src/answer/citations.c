/* Makes one text with its citations. */
#include "answer/citations.h"

#include "answer/sources.h"
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "text/text.h"
#include "text/url.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define BETWEEN_MESSAGES "\n\n"

struct cited_source {
    const struct model_annotation *annotation;
    const char *url; /* without tracking parameters */
    struct date date;
    bool dated, outdated;
    size_t order; /* of its first mention */
    size_t rank;  /* from 1 */
};

/* A mention of a source, on its way to becoming a citation. */
struct source_mention {
    size_t source;    /* the order of its source */
    struct span span; /* in the joined text, later in the cleaned one */
    size_t rank;      /* of its source */
};

struct citation_work {
    struct arena *arena;
    const struct model_part *parts;
    size_t count;
    char *joined;
    size_t joined_length;
    const char *text; /* cleaned */
    size_t length;
    struct span *spans; /* of all annotations, in order; later of groups of them */
    size_t span_count;
    struct cited_source *sources; /* one for each URL */
    size_t source_count;
    struct source_mention *mentions;
    size_t mention_count;
};

/* ---- the text ---- */

static int join(struct citation_work *work, size_t *offsets)
{
    struct buf text;
    buf_init(&text, LIMIT_ANSWER_TEXT_BYTES + LIMIT_REPLY_PARTS * sizeof BETWEEN_MESSAGES);
    for (size_t i = 0; i < work->count; i++) {
        if (i > 0 && work->parts[i].begins_message) {
            buf_puts(&text, BETWEEN_MESSAGES);
        }
        offsets[i] = text.length;
        buf_append(&text, work->parts[i].text, work->parts[i].length);
    }
    work->joined_length = text.length;
    work->joined = buf_to_arena(&text, work->arena);
    return work->joined ? OK : ERR_NOMEM;
}

static struct span moved(const struct cuts *cuts, struct span span)
{
    return (struct span){cuts_map(cuts, span.start), cuts_map(cuts, span.end)};
}

static int clean(struct citation_work *work)
{
    struct cuts cuts;
    int status = tracking_find(work->arena, work->joined, work->joined_length, &cuts);
    if (status != OK) {
        return status;
    }
    work->text = cuts_apply(work->arena, work->joined, work->joined_length, &cuts, &work->length);
    for (size_t i = 0; i < work->mention_count; i++) {
        work->mentions[i].span = moved(&cuts, work->mentions[i].span);
    }
    for (size_t i = 0; i < work->span_count; i++) {
        work->spans[i] = moved(&cuts, work->spans[i]);
    }
    return work->text ? OK : ERR_NOMEM;
}

/* ---- the sources ---- */

/* The URL as it is returned; NULL when it is no address of the web. */
static const char *source_url(struct arena *arena, const char *url)
{
    struct url parsed;
    const char *problem;
    char *stripped = strlen(url) <= LIMIT_SOURCE_URL_BYTES ? tracking_strip(arena, url) : NULL;
    return stripped && url_parse(arena, stripped, &parsed, &problem) == OK ? stripped : NULL;
}

static struct cited_source *find_source(struct citation_work *work, const char *url)
{
    for (size_t i = 0; i < work->source_count; i++) {
        if (strcmp(work->sources[i].url, url) == 0) {
            return &work->sources[i];
        }
    }
    return NULL;
}

static void add_annotation(struct citation_work *work, const struct model_annotation *annotation,
                           struct span span)
{
    work->spans[work->span_count++] = span;
    const char *url = source_url(work->arena, annotation->url);
    struct cited_source *source = url ? find_source(work, url) : NULL;
    if (!url) {
        return;
    }
    if (!source) {
        source = &work->sources[work->source_count];
        *source = (struct cited_source){
            .annotation = annotation, .url = url, .order = work->source_count++};
    } else if (!*source->annotation->title && *annotation->title) {
        source->annotation = annotation;
    }
    for (size_t i = 0; i < work->mention_count; i++) {
        const struct source_mention *other = &work->mentions[i];
        bool same = other->span.start == span.start && other->span.end == span.end;
        bool overlap = other->span.start < span.end && span.start < other->span.end;
        if (other->source == source->order && (same || overlap)) {
            return; /* one marker, named twice */
        }
    }
    work->mentions[work->mention_count++] = (struct source_mention){source->order, span, 0};
}

/* Whether there is nothing but commas and blanks between two markers. */
static bool adjacent(const char *text, struct span first, struct span second)
{
    for (size_t at = first.end; at < second.start; at++) {
        if (!strchr(" ,;", text[at])) {
            return false;
        }
    }
    return markers_is_marker(text, first) && markers_is_marker(text, second);
}

/* Makes one group of the markers that stand together, with the brackets around them, so that what
 * is between groups is what the answer says. */
static void group_spans(struct citation_work *work)
{
    const char *text = work->text;
    size_t groups = 0;
    for (size_t i = 0; i < work->span_count; i++) {
        struct span span = work->spans[i];
        struct span *last = groups ? &work->spans[groups - 1] : NULL;
        if (last && (span.start < last->end || adjacent(text, *last, span))) {
            last->end = span.end > last->end ? span.end : last->end;
        } else {
            work->spans[groups++] = span;
        }
    }
    work->span_count = groups;
    for (size_t i = 0; i < groups; i++) {
        struct span *span = &work->spans[i];
        if (span->start > 0 && span->end < work->length && text[span->start - 1] == '(' &&
            text[span->end] == ')') {
            *span = (struct span){span->start - 1, span->end + 1};
        }
    }
}

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left;
    const struct span *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static int collect(struct citation_work *work)
{
    size_t offsets[LIMIT_REPLY_PARTS];
    struct ruler *rulers[LIMIT_REPLY_PARTS];
    size_t annotations = 0;
    for (size_t i = 0; i < work->count; i++) {
        rulers[i] = ruler_new(work->arena, work->parts[i].text, work->parts[i].length);
        annotations += work->parts[i].annotation_count;
        if (!rulers[i]) {
            return ERR_NOMEM;
        }
    }
    work->spans = arena_alloc(work->arena, (annotations + 1) * sizeof *work->spans);
    work->sources = arena_alloc(work->arena, (annotations + 1) * sizeof *work->sources);
    work->mentions = arena_alloc(work->arena, (annotations + 1) * sizeof *work->mentions);
    if (!work->spans || !work->sources || !work->mentions || join(work, offsets) != OK) {
        return ERR_NOMEM;
    }
    struct counting counting = markers_counting(work->parts, rulers, work->count);
    for (size_t i = 0; i < work->count; i++) {
        const struct model_part *part = &work->parts[i];
        for (size_t a = 0; a < part->annotation_count; a++) {
            struct span span = markers_span(part, rulers[i], counting, &part->annotations[a]);
            span = (struct span){span.start + offsets[i], span.end + offsets[i]};
            add_annotation(work, &part->annotations[a], span);
        }
    }
    qsort(work->spans, work->span_count, sizeof *work->spans, compare_spans);
    return arena_failed(work->arena) ? ERR_NOMEM : OK;
}

/* ---- dates and order ---- */

static bool is_outdated(const struct date *date, const struct citation_wishes *wishes)
{
    if (wishes->start_date) {
        return strncmp(date->text, wishes->start_date, strlen(wishes->start_date)) < 0;
    }
    return wishes->freshness_hours > 0 && date_older(date, wishes->now, wishes->freshness_hours);
}

/* Behind the first of its markers that has a date, else as the annotation or the address says. */
static bool date_source(const struct citation_work *work, struct cited_source *source)
{
    for (size_t i = 0; i < work->mention_count; i++) {
        const struct source_mention *mention = &work->mentions[i];
        size_t end = mention->span.end;
        if (mention->source == source->order &&
            date_published(work->text + end, work->length - end, &source->date)) {
            return true;
        }
    }
    const char *said = source->annotation->published;
    said = said ? arena_printf(work->arena, "published %s", said) : NULL;
    return (said && date_published(said, strlen(said), &source->date)) ||
           date_in_url(source->url, &source->date);
}

static void date_sources(struct citation_work *work, const struct citation_wishes *wishes)
{
    for (size_t i = 0; i < work->source_count; i++) {
        struct cited_source *source = &work->sources[i];
        source->dated = date_source(work, source);
        source->outdated = source->dated && is_outdated(&source->date, wishes);
    }
}

static int compare_sources(const void *left, const void *right)
{
    const struct cited_source *a = left;
    const struct cited_source *b = right;
    if (a->outdated != b->outdated) {
        return a->outdated ? 1 : -1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

static int compare_mentions(const void *left, const void *right)
{
    const struct source_mention *a = left;
    const struct source_mention *b = right;
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

/* Gives each source its rank, and puts the mentions in the order of their sources. */
static void rank_sources(struct citation_work *work)
{
    qsort(work->sources, work->source_count, sizeof *work->sources, compare_sources);
    for (size_t i = 0; i < work->source_count; i++) {
        work->sources[i].rank = i + 1;
        for (size_t m = 0; m < work->mention_count; m++) {
            if (work->mentions[m].source == work->sources[i].order) {
                work->mentions[m].rank = i + 1;
            }
        }
    }
    qsort(work->mentions, work->mention_count, sizeof *work->mentions, compare_mentions);
}

/* ---- citations ---- */

/* The group that a span is in. */
static size_t group_of(const struct citation_work *work, struct span span)
{
    size_t at = 0;
    while (at + 1 < work->span_count && work->spans[at + 1].start <= span.start) {
        at++;
    }
    return at;
}

static const char *clipped(struct arena *arena, const char *title)
{
    size_t length = strlen(title);
    size_t kept = text_prefix(title, length, LIMIT_SOURCE_TITLE_CHARS);
    return kept < length ? arena_strndup(arena, title, kept) : title;
}

static int write_citations(struct citation_work *work, size_t most, struct cited_text *cited)
{
    struct ruler *ruler = ruler_new(work->arena, work->text, work->length);
    cited->left_out = work->source_count > most ? work->source_count - most : 0;
    cited->citations =
        arena_zalloc(work->arena, (work->mention_count + 1) * sizeof *cited->citations);
    if (!ruler || !cited->citations) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < work->mention_count && work->mentions[i].rank <= most; i++) {
        const struct source_mention *mention = &work->mentions[i];
        const struct cited_source *source = &work->sources[mention->rank - 1];
        cited->citations[cited->count++] = (struct citation){
            .url = source->url,
            .title = clipped(work->arena, source->annotation->title),
            .snippet = snippet_for(work->arena, work->text, work->length, work->spans,
                                   work->span_count, group_of(work, mention->span)),
            .start = ruler_point(ruler, mention->span.start),
            .end = ruler_point(ruler, mention->span.end),
            .published = source->dated ? arena_strdup(work->arena, source->date.text) : NULL,
            .outdated = source->outdated,
            .rank = (int)mention->rank,
        };
    }
    return arena_failed(work->arena) ? ERR_NOMEM : OK;
}

int citations_make(struct arena *arena, const struct model_part *parts, size_t count,
                   const struct citation_wishes *wishes, struct cited_text *cited)
{
    struct citation_work work = {.arena = arena, .parts = parts, .count = count};
    *cited = (struct cited_text){0};
    int status = collect(&work);
    if (status == OK) {
        status = clean(&work);
    }
    if (status != OK) {
        return status;
    }
    group_spans(&work);
    date_sources(&work, wishes);
    rank_sources(&work);
    cited->text = work.text;
    cited->length = work.length;
    return write_citations(&work, wishes->most, cited);
}
