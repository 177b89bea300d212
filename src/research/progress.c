/* What a research has come to, for people who look at it while it runs. */
#include "call/journal.h"
#include "core/clock.h"
#include "core/limits.h"
#include "research/sightings.h"
#include "text/text.h"

#include <string.h>

#define MOST_PAGES  100 /* the newest of them */
#define MOST_NOTES  100
#define QUOTE_CHARS 400

static void add_pages(yyjson_mut_doc *doc, yyjson_mut_val *state, const struct evidence *evidence)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, state, "pages");
    size_t count = evidence_page_count(evidence);
    for (size_t i = count > MOST_PAGES ? count - MOST_PAGES : 0; i < count; i++) {
        char stamp[CLOCK_STAMP_SIZE];
        const struct evidence_page *page = evidence_page(evidence, i + 1);
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, one, "url", page->url);
        json_add_string(doc, one, "title", page->title);
        yyjson_mut_obj_add_strcpy(doc, one, "read_at", clock_stamp_of(page->read_ms, stamp));
    }
}

static void add_notes(yyjson_mut_doc *doc, yyjson_mut_val *state, const struct evidence *evidence)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, state, "notes");
    size_t count = evidence_note_count(evidence);
    for (size_t i = count > MOST_NOTES ? count - MOST_NOTES : 0; i < count; i++) {
        const struct evidence_note *note = evidence_note(evidence, i + 1);
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, one, "claim", note->claim);
        yyjson_mut_obj_add_strn(doc, one, "quote", note->words,
                                text_prefix(note->words, strlen(note->words), QUOTE_CHARS));
        json_add_string(doc, one, "url", note->url);
        json_add_string(doc, one, "grade", evidence_grade_name(note->grade));
    }
}

void sightings_tell(const struct sightings *sightings)
{
    struct arena *scratch = call_journal(sightings->call) ? arena_new(MIB(4)) : NULL;
    if (!scratch) {
        return;
    }
    yyjson_mut_doc *doc = json_new(scratch);
    yyjson_mut_val *state = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_int(doc, state, "rounds", sightings->rounds);
    json_add_strings(doc, state, "searches", sightings->queries.items, sightings->queries.count);
    add_pages(doc, state, sightings->evidence);
    add_notes(doc, state, sightings->evidence);
    journal_tell(sightings->call, json_text(scratch, state, NULL));
    arena_free(scratch);
}
