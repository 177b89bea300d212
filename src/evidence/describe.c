/* Evidence as members of a result, within their share of what a result may take. */
#include "config/budget.h"
#include "core/clock.h"
#include "evidence/internal.h"

#define SHARE_OF_NOTES     8  /* of a result: one part in so many */
#define SHARE_OF_CONFLICTS 10 /* the same */
#define CHARS_OF_NAMES     120

static void add_stamp(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, int64_t ms)
{
    char stamp[CLOCK_STAMP_SIZE];
    yyjson_mut_obj_add_strcpy(doc, object, key, clock_stamp_of(ms, stamp));
}

static yyjson_mut_val *describe_note(const struct evidence *evidence, yyjson_mut_doc *doc,
                                     const struct evidence_note *note)
{
    const struct evidence_page *page = evidence_page(evidence, note->source);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    json_add_string(doc, object, "claim", note->claim);
    json_add_string(doc, object, "quote", note->words);
    json_add_string(doc, object, "url", note->url);
    json_add_string(doc, object, "title", page ? page->title : "");
    if (page) {
        add_stamp(doc, object, "read_at", page->read_ms);
    }
    json_add_string(doc, object, "grade", evidence_grade_name(note->grade));
    if (note->supported) {
        yyjson_mut_obj_add_bool(doc, object, "supported", note->supported > 0);
        json_add_string(doc, object, "supported_by", note->supported_by);
    }
    return object;
}

static size_t note_chars(const struct evidence *evidence, const struct evidence_note *note)
{
    const struct evidence_page *page = evidence_page(evidence, note->source);
    return json_chars(note->claim) + json_chars(note->words) + json_chars(note->url) +
           json_chars(page ? page->title : "") + CHARS_OF_NAMES;
}

static void add_notes(const struct evidence *evidence, yyjson_mut_doc *doc, yyjson_mut_val *result)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, result, "evidence");
    size_t room = budget_chars() / SHARE_OF_NOTES;
    size_t left_out = 0;
    for (size_t i = 0; i < evidence->note_count; i++) {
        const struct evidence_note *note = &evidence->notes[i].note;
        size_t chars = note->cited ? note_chars(evidence, note) : 0;
        if (note->cited && chars <= room) {
            room -= chars;
            yyjson_mut_arr_append(list, describe_note(evidence, doc, note));
        } else if (note->cited) {
            left_out++;
        }
    }
    if (left_out) {
        yyjson_mut_obj_add_uint(doc, result, "evidence_left_out", left_out);
    }
}

static void add_citations(const struct evidence *evidence, yyjson_mut_doc *doc,
                          yyjson_mut_val *result)
{
    struct evidence_counts counts;
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, result, "citations");
    evidence_count(evidence, &counts);
    yyjson_mut_obj_add_uint(doc, object, "claims", counts.claims);
    for (int grade = 0; grade < EVIDENCE_GRADES; grade++) {
        const char *name = evidence_grade_name((enum evidence_grade)grade);
        yyjson_mut_obj_add_uint(doc, object, name, counts.grades[grade]);
    }
    yyjson_mut_obj_add_uint(doc, object, "sources", counts.sources);
    yyjson_mut_obj_add_uint(doc, object, "hosts", counts.hosts);
}

static void add_side(const struct evidence *evidence, yyjson_mut_doc *doc, yyjson_mut_val *object,
                     const char *key, const struct evidence_conflict *conflict, int side)
{
    yyjson_mut_val *place = yyjson_mut_obj_add_obj(doc, object, key);
    json_add_string(doc, place, "quote", conflict->quote[side]);
    json_add_string(doc, place, "url", evidence_page(evidence, conflict->source[side])->url);
}

static void add_conflicts(struct evidence *evidence, yyjson_mut_doc *doc, yyjson_mut_val *result)
{
    size_t count;
    size_t room = budget_chars() / SHARE_OF_CONFLICTS;
    const struct evidence_conflict *conflicts = evidence_conflicts(evidence, &count);
    yyjson_mut_val *list = count ? yyjson_mut_obj_add_arr(doc, result, "conflicts") : NULL;
    for (size_t i = 0; i < count; i++) {
        const struct evidence_conflict *conflict = &conflicts[i];
        const char *claim = evidence->notes[conflict->note - 1].note.claim;
        size_t chars = json_chars(claim) + 2 * CHARS_OF_NAMES;
        for (int side = 0; side < 2; side++) {
            chars += json_chars(conflict->quote[side]) +
                     json_chars(evidence_page(evidence, conflict->source[side])->url);
        }
        if (chars > room) {
            yyjson_mut_obj_add_uint(doc, result, "conflicts_left_out", count - i);
            return;
        }
        room -= chars;
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
        if (*claim) {
            json_add_string(doc, object, "claim", claim);
        }
        add_side(evidence, doc, object, "one", conflict, 0);
        add_side(evidence, doc, object, "other", conflict, 1);
    }
}

void evidence_describe(struct evidence *evidence, yyjson_mut_doc *doc, yyjson_mut_val *result)
{
    add_notes(evidence, doc, result);
    add_citations(evidence, doc, result);
    add_conflicts(evidence, doc, result);
}
