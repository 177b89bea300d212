/* Reads the sources that the model names, those that were read before from memory, and shows what
 * answers its question. */
#include "research/own/work.h"

#include "call/journal.h"
#include "core/clock.h"
#include "core/limits.h"
#include "reader/focus.h"
#include "research/own/pages.h"

#include <string.h>

#define LEAST_SHOWN 600u /* characters of a page, however many are read at once */

/* ---- side by side ---- */

/* When reading ends whatever is still unread: a slow page must not take the time of the others. */
static int64_t read_until(const struct own *own)
{
    int64_t left = own->allowance.limit[ALLOWANCE_TIME] - journal_worked_ms(own->call);
    int64_t share = left / 4 < TIME_RESEARCH_READ_MS ? left / 4 : TIME_RESEARCH_READ_MS;
    int64_t until = clock_now_ms() + share;
    return until < own_until_now(own) ? until : own_until_now(own);
}

static int fetch_all(struct own *own, struct research_source *const *wanted, size_t count)
{
    if (count) {
        own_say(own, "round %d: reading %zu page%s, %zu notes", own->seen.rounds, count,
                count == 1 ? "" : "s", own->facts);
    }
    int status = pages_fetch(own->call, own->evidence, wanted, count, read_until(own));
    for (size_t i = 0; status == OK && i < count; i++) {
        const struct evidence_page *page = evidence_page(own->evidence, wanted[i]->page);
        bool seen = !page || sightings_add(&own->seen, &own->seen.sources, page->url);
        status = seen ? OK : ERR_NOMEM;
    }
    sightings_tell(&own->seen);
    return status;
}

/* ---- showing ---- */

static int show(struct own *own, const struct research_source *source, size_t number,
                const struct move *move, size_t most, struct buf *out)
{
    if (!source->page) {
        buf_printf(out, "Source %zu could not be read.\n", number);
        own_put_data(own, out, source->trouble ? source->trouble : "it was not tried");
        return OK;
    }
    const char *text;
    const struct pages_wish wish = {
        .question = move->question && *move->question ? move->question
                                                      : own_part(own, move->part)->question,
        .start = (size_t)move->start,
        .most = most,
        .beside = move->source_count,
        .read_on = true,
    };
    struct arena *scratch = arena_new(LIMIT_CALL_ARENA_BYTES);
    int status =
        scratch ? pages_show(own->call, own->evidence, source, &wish, scratch, &text) : ERR_NOMEM;
    if (status == OK) {
        buf_printf(out, "Source %zu, %zu characters:\n", number, source->chars);
        own_put_data(own, out, text);
    }
    arena_free(scratch);
    return status;
}

/* ---- all of it ---- */

/* The sources of a move, each once; what is no source is told. */
static size_t choose(struct own *own, const struct move *move, int64_t numbers[MOVE_SOURCES],
                     struct buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < move->source_count; i++) {
        bool twice = false;
        for (size_t j = 0; j < count; j++) {
            twice |= numbers[j] == move->sources[i];
        }
        if (!sources_get(&own->sources, move->sources[i])) {
            buf_printf(out,
                       move->sources[i] < 0
                           ? "Not read: sources are numbers. An address is never read.\n"
                           : "Not read: there is no source %lld.\n",
                       (long long)move->sources[i]);
        } else if (!twice) {
            numbers[count++] = move->sources[i];
        }
    }
    return count;
}

int reading_run(struct own *own, const struct move *move, struct plan_part *part, struct buf *out)
{
    int64_t numbers[MOVE_SOURCES];
    struct research_source *fetch[MOVE_SOURCES];
    size_t fetching = 0;
    size_t count = choose(own, move, numbers, out);
    int64_t left = allowance_left(&own->allowance, ALLOWANCE_PAGES);
    int64_t share = allowance_left(&part->allowance, ALLOWANCE_PAGES);
    left = share < left ? share : left;
    bool asked = false;
    for (size_t i = 0; i < count; i++) {
        struct research_source *source = sources_get(&own->sources, numbers[i]);
        if (source->page || source->trouble) {
            continue; /* it is here already, or will not become better */
        }
        if (!asked && !own_may_use(own, part, ALLOWANCE_PAGES, out)) {
            left = 0; /* what was read before is shown all the same */
        }
        asked = true;
        if ((int64_t)fetching < left) {
            fetch[fetching++] = source;
        } else {
            buf_printf(out, "Source %lld is not fetched.\n", (long long)numbers[i]);
            numbers[i] = 0;
        }
    }
    own->allowance.used[ALLOWANCE_PAGES] += (int64_t)fetching;
    part->allowance.used[ALLOWANCE_PAGES] += (int64_t)fetching;
    int status = fetch_all(own, fetch, fetching);
    size_t most = own->talk.room * 2 / 3 / (count ? count : 1);
    most = most > FOCUS_CHARS ? FOCUS_CHARS : most;
    most = most < LEAST_SHOWN ? LEAST_SHOWN : most;
    for (size_t i = 0; status == OK && i < count; i++) {
        const struct research_source *source = sources_get(&own->sources, numbers[i]);
        if (source) {
            status = show(own, source, (size_t)numbers[i], move, most, out);
        }
    }
    if (status == OK && count) {
        buf_puts(out, "Note now what matters of this: it will not be shown again for long.\n");
    }
    return status;
}
