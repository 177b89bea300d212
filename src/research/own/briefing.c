/* Writes what a model has to know at each turn, in the same words for the same state: no time of
 * day, no order of arrival. */
#include "research/own/briefing.h"

#include "core/clock.h"
#include "core/limits.h"

#include <inttypes.h>
#include <string.h>

#define NOTES_ROOM   8000u /* characters of notes that are shown, at most; the newest first */
#define SOURCES_ROOM 4000u /* the same of sources */
#define WARNED_TURNS 3     /* before the last one */

void briefing_put_question(const struct own *own, struct buf *out)
{
    char stamp[CLOCK_STAMP_SIZE];
    clock_stamp(stamp);
    buf_printf(out,
               "The question, word for word:\n<question-%s>\n%s\n</question-%s>\nToday is %.10s.",
               own->tag, own->question, own->tag, stamp);
    if (*own->request->depth) {
        buf_printf(out, " Depth: %s.", own->request->depth);
    }
    buf_puts(out, "\n");
    if (own->request->follow) {
        struct buf before;
        buf_init(&before, KIB(256));
        follow_put(&before, own->request->follow, false);
        buf_puts(out, "\nIt follows on what was asked before:\n");
        own_put_data(own, out, before.data ? before.data : "");
        buf_puts(out, "Sources that are marked as read are from then: read them again to see what "
                      "of them answers this question. That costs nothing.\n");
        buf_done(&before);
    }
}

static void put_plan(const struct own *own, struct buf *out)
{
    buf_puts(out, own->planned ? "\nParts of the plan:\n" : "");
    for (size_t i = 0; own->planned && i < own->part_count; i++) {
        const struct allowance *allowance = &own->parts[i].allowance;
        buf_printf(out, "%zu. %s (%" PRId64 " searches and %" PRId64 " pages left)\n", i + 1,
                   own->parts[i].question, allowance_left(allowance, ALLOWANCE_SEARCHES),
                   allowance_left(allowance, ALLOWANCE_PAGES));
    }
}

/* The number of the source that stands for a page of the evidence. */
static size_t source_of(const struct own *own, size_t page)
{
    for (size_t i = 0; i < own->sources.count; i++) {
        if (own->sources.items[i].page == page) {
            return i + 1;
        }
    }
    return 0;
}

static bool is_fact(const struct evidence_note *note)
{
    return note && (note->grade == EVIDENCE_EXACT || note->grade == EVIDENCE_NEAR);
}

/* Between the tags: claims are a model's words, made of what pages say. */
static void put_notes(const struct own *own, struct buf *out)
{
    struct buf list;
    size_t most = own->talk.room / 2 < NOTES_ROOM ? own->talk.room / 2 : NOTES_ROOM;
    size_t first = own->notes + 1;
    size_t taken = 0;
    while (first > 1) {
        const struct evidence_note *note = evidence_note(own->evidence, first - 1);
        taken += is_fact(note) ? strlen(note->claim) + 24 : 0;
        if (taken > most) {
            break;
        }
        first--;
    }
    buf_printf(out, "\nNotes so far: %zu.%s\n", own->facts,
               first > 1 ? " The newest of them:" : "");
    buf_init(&list, MIB(1));
    for (size_t i = first; i <= own->notes; i++) {
        const struct evidence_note *note = evidence_note(own->evidence, i);
        if (is_fact(note)) {
            buf_printf(&list, "%s[note %zu] %s (source %zu)", list.length ? "\n" : "", i,
                       note->claim, source_of(own, note->source));
        }
    }
    if (list.length) {
        own_put_data(own, out, list.data);
    }
    buf_done(&list);
}

static void put_sources(const struct own *own, struct buf *out)
{
    struct buf list;
    size_t first = own->sources.count;
    size_t taken = 0;
    size_t most = own->talk.room / 4 < SOURCES_ROOM ? own->talk.room / 4 : SOURCES_ROOM;
    if (!own->sources.count) {
        buf_puts(out, "\nNo sources are known yet.\n");
        return;
    }
    while (first && taken <= most) {
        const struct research_source *source = &own->sources.items[--first];
        taken += strlen(source->title) + strlen(source->host) + 24;
    }
    buf_init(&list, MIB(1));
    for (size_t i = first; i < own->sources.count; i++) {
        const struct research_source *source = &own->sources.items[i];
        buf_printf(&list, "%s[%zu] %s (%s): %s", list.length ? "\n" : "", i + 1, source->title,
                   source->host,
                   source->page      ? "read"
                   : source->trouble ? "cannot be read"
                                     : "not read");
    }
    buf_printf(out, "\nSources:%s\n", first ? " (the newest)" : "");
    own_put_data(own, out, list.data ? list.data : "");
    buf_done(&list);
}

/* In the last turns what is left is said in words that cannot be missed. */
static void put_left(const struct own *own, bool last, struct buf *out)
{
    const struct allowance *allowance = &own->allowance;
    int turns = own->most_turns - own->turns;
    buf_printf(out, "\nLeft: %" PRId64 " searches, %" PRId64 " pages, %d rounds of searching.\n",
               allowance_left(allowance, ALLOWANCE_SEARCHES),
               allowance_left(allowance, ALLOWANCE_PAGES),
               own->request->max_rounds - own->seen.rounds);
    if (last) {
        buf_puts(out, "This is the last turn. Note what you have read and not noted yet, and "
                      "finish. Nothing can be searched or read any more.\n");
    } else if (turns <= WARNED_TURNS + 1) {
        buf_printf(out, "Only %d turns are left. Note what you have.\n", turns);
    }
}

void briefing_put_conflicts(const struct own *own, struct buf *out)
{
    size_t count;
    const struct evidence_conflict *conflicts = evidence_conflicts(own->evidence, &count);
    for (size_t i = 0; i < count; i++) {
        struct buf both;
        buf_init(&both, KIB(64));
        buf_printf(&both, "One says: %s\nAnother says: %s", conflicts[i].quote[0],
                   conflicts[i].quote[1]);
        buf_printf(out, "%sPages contradict each other", i ? "" : "\n");
        buf_printf(out, conflicts[i].note ? " (note %zu):\n" : ":\n", conflicts[i].note);
        own_put_data(own, out, both.data ? both.data : "");
        buf_done(&both);
    }
}

const char *briefing_write(struct own *own, bool last)
{
    struct buf out;
    buf_init(&out, MIB(2));
    briefing_put_question(own, &out);
    put_plan(own, &out);
    put_notes(own, &out);
    put_sources(own, &out);
    put_left(own, last, &out);
    const char *text = buf_error(&out) ? NULL : arena_strdup(call_arena(own->call), out.data);
    buf_done(&out);
    return text;
}
