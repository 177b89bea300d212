/* Does what the model asks for: plans, searches, reads, takes notes, ends. Whatever cannot be done
 * is told to the model in words that say what to do instead. */
#include "research/own/work.h"

#include "call/journal.h"
#include "core/clock.h"
#include "core/limits.h"
#include "research/own/outside.h"
#include "research/own/pages.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUERIES_AT_ONCE 4
#define RESULTS         8   /* for each query */
#define QUERY_CHARS     400 /* of one; what is longer is cut */
#define CLAIM_CHARS     600
#define QUOTE_CHARS     2000
#define PLAN_CHARS      300 /* of a part's question */

/* ---- what all of them need ---- */

void own_put_data(const struct own *own, struct buf *out, const char *text)
{
    pages_put_data(out, own->tag, text);
}

void own_warn(struct own *own, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *words = arena_vprintf(call_arena(own->call), format, args);
    va_end(args);
    if (words) {
        sightings_add(&own->seen, &own->seen.warnings, words);
    }
}

void own_say(struct own *own, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *words = arena_vprintf(call_arena(own->call), format, args);
    va_end(args);
    if (words) {
        call_progress(own->call, ++own->steps, 0, "%s", words);
    }
}

void own_close(struct own *own, const char *why)
{
    own->closed_by = own->closed_by ? own->closed_by : why;
}

int64_t own_until(const struct own *own)
{
    int64_t end = own->allowance.limit[ALLOWANCE_TIME];
    return end - (end / 4 < TIME_RESEARCH_WRITE_MS ? end / 4 : TIME_RESEARCH_WRITE_MS);
}

int64_t own_until_now(const struct own *own)
{
    return clock_now_ms() + own_until(own) - journal_worked_ms(own->call);
}

struct plan_part *own_part(struct own *own, int64_t number)
{
    bool known = number > 0 && (uint64_t)number <= own->part_count;
    return &own->parts[known ? number - 1 : 0];
}

/* Adds what grew since the last time to the whole and to a part of it. */
static void take_more(struct own *own, struct plan_part *part, enum allowance_kind kind,
                      int64_t now)
{
    int64_t more = now - own->allowance.used[kind];
    own->allowance.used[kind] = now;
    if (part) {
        part->allowance.used[kind] += more;
    }
}

void own_count(struct own *own, struct plan_part *part)
{
    const struct call_usage used = call_used(own->call);
    take_more(own, part, ALLOWANCE_TOKENS, used.input_tokens + used.output_tokens);
    take_more(own, part, ALLOWANCE_MONEY, used.nano_usd);
    take_more(own, part, ALLOWANCE_TIME, journal_last_ms(own->call));
}

static void use(struct own *own, struct plan_part *part, enum allowance_kind kind, int64_t count)
{
    own->allowance.used[kind] += count;
    part->allowance.used[kind] += count;
}

/* A copy of at most so many characters. */
static const char *clip(struct own *own, const char *text, size_t most)
{
    return arena_strndup(call_arena(own->call), text, text_prefix(text, strlen(text), most));
}

/* The same on one line: a model repeats what pages say, and a line of its own could pass for one of
 * ours. */
static const char *clip_line(struct own *own, const char *text, size_t most)
{
    char *line = arena_strndup(call_arena(own->call), text, text_prefix(text, strlen(text), most));
    for (char *at = line; at && *at; at++) {
        *at = (unsigned char)*at < ' ' || *at == 0x7F ? ' ' : *at;
    }
    return line;
}

bool own_may_use(struct own *own, struct plan_part *part, enum allowance_kind kind, struct buf *out)
{
    /* Whatever is done costs these too: each by itself, since one that is spent hides others. */
    const enum allowance_kind needed[] = {kind, ALLOWANCE_TOKENS, ALLOWANCE_MONEY, ALLOWANCE_TIME};
    own_count(own, part);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const char *word = ALLOWANCE_WORDS[needed[i]];
        if (!allowance_left(&own->allowance, needed[i])) {
            buf_printf(out, "No %s are left. Note what you have read, then finish.\n", word);
            own_close(own, word);
            return false;
        }
        if (!allowance_left(&part->allowance, needed[i])) {
            buf_printf(out,
                       "Part %zu has used its share of %s. Go on with another part, or finish.\n",
                       (size_t)(part - own->parts) + 1, word);
            return false;
        }
    }
    return true;
}

/* ---- plan ---- */

static int make_plan(struct own *own, const struct move *move, struct buf *out)
{
    if (own->planned || own->allowance.used[ALLOWANCE_SEARCHES] || own->seen.sources.count) {
        buf_puts(out, "There is a plan already, or the research has begun. Go on.\n");
        return OK;
    }
    own->planned = true;
    struct plan_part before = own->parts[0];
    own->part_count = move->text_count;
    for (size_t i = 0; i < move->text_count; i++) {
        own->parts[i] = (struct plan_part){.question = clip_line(own, move->texts[i], PLAN_CHARS)};
        allowance_share(&own->allowance, move->text_count, &own->parts[i].allowance);
        if (!own->parts[i].question) {
            return ERR_NOMEM;
        }
    }
    /* What planning itself took is the first part's. */
    memcpy(own->parts[0].allowance.used, before.allowance.used, sizeof before.allowance.used);
    buf_printf(out, "The plan has %zu parts. Name the part in search and read.\n",
               move->text_count);
    return OK;
}

/* ---- search ---- */

static void put_found(struct own *own, yyjson_mut_val *results, struct buf *out)
{
    struct buf list;
    size_t index, most;
    size_t fresh = 0;
    yyjson_mut_val *item;
    buf_init(&list, KIB(256));
    yyjson_mut_arr_foreach(results, index, most, item)
    {
        size_t before = own->sources.count;
        size_t number = sources_add_result(call_arena(own->call), &own->sources, item);
        const struct research_source *source = sources_get(&own->sources, (int64_t)number);
        if (source) {
            fresh += own->sources.count > before;
            buf_printf(&list, "%s[%zu] %s (%s)%s\n%s\n", list.length ? "\n" : "", number,
                       source->title, source->host, source->page ? ", read already" : "",
                       source->snippet);
        }
    }
    if (list.length) {
        own_put_data(own, out, list.data);
        buf_printf(out, "%zu of these sources are new. Read those that promise an answer.\n",
                   fresh);
    } else {
        buf_puts(out, "Nothing was found. Search in other words.\n");
    }
    buf_done(&list);
}

/* A search that fails is told to the model, which may try other words. */
static int tell_failure(struct own *own, int status, struct buf *out)
{
    struct call_error error;
    if (status != ERR_FAILED) {
        return status;
    }
    call_take_error(own->call, &error);
    const char *words = error.message ? error.message : "the search failed";
    own_warn(own, "a search failed: %s", words);
    buf_puts(out, "The search failed. Search in other words, or go on with what there is.\n");
    own_put_data(own, out, words);
    return OK;
}

static int search(struct own *own, const struct move *move, struct plan_part *part, struct buf *out)
{
    struct arena *arena = call_arena(own->call);
    int64_t left = allowance_left(&own->allowance, ALLOWANCE_SEARCHES);
    int64_t share = allowance_left(&part->allowance, ALLOWANCE_SEARCHES);
    if (!own_may_use(own, part, ALLOWANCE_SEARCHES, out)) {
        return OK;
    }
    left = share < left ? share : left;
    struct search_request *request = arena_zalloc(arena, sizeof *request);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *results = NULL;
    if (!request || !doc) {
        return ERR_NOMEM;
    }
    *request = (struct search_request){
        .several = true,
        .query = {.page = 1, .type = SEARCH_WEB},
        .budget = LIMIT_CALL_ARENA_BYTES,
        .until_ms = own_until_now(own),
        .links = true,
    };
    for (size_t i = 0; i < move->text_count && i < QUERIES_AT_ONCE && (int64_t)i < left; i++) {
        const char *text = clip(own, move->texts[i], QUERY_CHARS);
        if (!text || !sightings_add(&own->seen, &own->seen.queries, text)) {
            return ERR_NOMEM;
        }
        request->texts[request->text_count++] = text;
    }
    size_t wanted = RESULTS * request->text_count;
    request->query.count = wanted < LIMIT_SEARCH_RESULTS ? wanted : LIMIT_SEARCH_RESULTS;
    use(own, part, ALLOWANCE_SEARCHES, (int64_t)request->text_count);
    own_say(own, "round %d: %zu search%s, %zu notes", own->seen.rounds, request->text_count,
            request->text_count == 1 ? "" : "es", own->facts);
    sightings_tell(&own->seen);
    int status = outside_search(own->call, request, doc, &results);
    if (status != OK) {
        return tell_failure(own, status, out);
    }
    if (request->text_count < move->text_count) {
        buf_printf(out, "Only the first %zu queries were searched for.\n", request->text_count);
    }
    put_found(own, results, out);
    return OK;
}

/* ---- note ---- */

static bool take_note(struct own *own, const struct move_note *note, struct buf *out)
{
    const struct research_source *source = sources_get(&own->sources, note->source);
    if (!source || !source->page) {
        buf_printf(out,
                   source ? "Not noted: source %lld was not read. Read it first.\n"
                          : "Not noted: there is no source %lld.\n",
                   (long long)note->source);
        return true;
    }
    const char *claim = clip_line(own, note->claim, CLAIM_CHARS);
    const char *quote = clip(own, note->quote, QUOTE_CHARS);
    size_t number =
        claim && quote ? evidence_add_note(own->evidence, claim, quote, source->page) : 0;
    const struct evidence_note *kept = number ? evidence_note(own->evidence, number) : NULL;
    if (!kept) {
        buf_puts(out, "Not noted: there is no room for more notes. Finish.\n");
        return claim && quote;
    }
    bool found = kept->grade == EVIDENCE_EXACT || kept->grade == EVIDENCE_NEAR;
    bool fresh = number > own->notes;
    own->notes = fresh ? number : own->notes;
    if (found && fresh) {
        own->facts++;
        own->stale_rounds = own->stale_turns = 0;
    }
    if (found) {
        buf_printf(out, "Note %zu: kept.%s\n", number, fresh ? "" : " It was there already.");
    } else {
        buf_printf(out,
                   "Note %zu: the quote is not in source %lld, so it counts for nothing. Copy the "
                   "exact words of the page, or leave it.\n",
                   number, (long long)note->source);
    }
    return true;
}

static int take_notes(struct own *own, const struct move *move, struct buf *out)
{
    for (size_t i = 0; i < move->note_count; i++) {
        if (!take_note(own, &move->notes[i], out)) {
            return ERR_NOMEM;
        }
    }
    return OK;
}

/* ---- finish ---- */

static int take_texts(struct own *own, const char *const *texts, size_t count,
                      const char *kept[OWN_OPEN], size_t *kept_count)
{
    for (size_t i = 0; i < count && *kept_count < OWN_OPEN; i++) {
        const char *text = clip_line(own, texts[i], PLAN_CHARS);
        if (!text) {
            return ERR_NOMEM;
        }
        kept[(*kept_count)++] = text;
    }
    return OK;
}

/* An end without a single fact is no end, once. */
static int finish(struct own *own, const struct move *move, struct buf *out)
{
    if (!own->facts && !own->refused_finish && !own->closing) {
        own->refused_finish = true;
        buf_puts(out, "There are no notes yet, so nothing can be reported. Search, read, and note "
                      "facts with quotes; or finish again, and there will be no report.\n");
        return OK;
    }
    own->finished = true;
    own->uncovered = move->uncovered;
    buf_puts(out, "Finished.\n");
    int status = take_texts(own, move->texts, move->text_count, own->open, &own->open_count);
    return status == OK ? take_texts(own, move->disputed, move->disputed_count, own->disputed,
                                     &own->disputed_count)
                        : status;
}

/* ---- any of them ---- */

/* Whether the model did exactly this before; from now on it has. A note costs nothing and is told
 * to be there already, and to finish twice is its right. */
static int is_repeated(struct own *own, const struct move *move, bool *repeated)
{
    struct arena *arena = call_arena(own->call);
    *repeated = false;
    if (move->kind == MOVE_FINISH || move->kind == MOVE_NOTE) {
        return OK;
    }
    const char *key = move_key(arena, move);
    for (size_t i = 0; key && i < own->done_count && !*repeated; i++) {
        *repeated = strcmp(own->done[i], key) == 0;
    }
    if (*repeated) {
        return OK;
    }
    const char **done =
        arena_grow(arena, own->done, own->done_count, &own->done_capacity, sizeof *own->done);
    if (!key || !done) {
        return ERR_NOMEM;
    }
    own->done = done;
    done[own->done_count++] = key;
    return OK;
}

static int do_kind(struct own *own, const struct move *move, struct buf *out)
{
    struct plan_part *part = own_part(own, move->part);
    /* What closes the research in mid-turn ends its searches; the turn's reads still count. */
    bool over = (own->closing && move->kind == MOVE_READ) ||
                ((own->closing || own->closed_by) && move->kind == MOVE_SEARCH);
    if (over) {
        buf_puts(out, "Nothing more is searched or read. Note what you have, then finish.\n");
        return OK;
    }
    switch (move->kind) {
    case MOVE_PLAN:
        return make_plan(own, move, out);
    case MOVE_SEARCH:
        return search(own, move, part, out);
    case MOVE_READ:
        return reading_run(own, move, part, out);
    case MOVE_NOTE:
        return take_notes(own, move, out);
    default:
        return finish(own, move, out);
    }
}

int work_do(struct own *own, const struct move *move, const char **text, bool *failed)
{
    struct buf out;
    bool repeated = false;
    buf_init(&out, MIB(1));
    *failed = move->trouble != NULL;
    int status = move->trouble ? OK : is_repeated(own, move, &repeated);
    if (move->trouble) {
        buf_printf(&out, "%s\n", move->trouble);
    } else if (repeated) {
        buf_puts(&out, "You did exactly this before. Do something else, or finish.\n");
        *failed = true;
    } else if (status == OK) {
        status = do_kind(own, move, &out);
    }
    status = status == OK ? buf_error(&out) : status;
    *text = status == OK ? arena_strdup(call_arena(own->call), out.data ? out.data : "") : NULL;
    buf_done(&out);
    return status == OK && !*text ? ERR_NOMEM : status;
}
