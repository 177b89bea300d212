/* Writes the report from the notes alone, and asks a judge about them where one is named. What the
 * model cannot write, because it fails, refuses or may cost no more, is written here as a list: the
 * evidence is never lost. */
#include "research/own/work.h"

#include "call/journal.h"
#include "config/budget.h"
#include "config/config.h"
#include "core/limits.h"
#include "research/own/briefing.h"
#include "research/steps.h"
#include "text/text.h"

#include <string.h>

#define REPORT_TOKENS 16384
#define JUDGE_TOKENS  8192
#define NOTES_CHARS   60000u /* of notes that the writer sees */
#define LEAST_NOTES   2000u

static bool is_fact(const struct evidence_note *note)
{
    return note->grade == EVIDENCE_EXACT || note->grade == EVIDENCE_NEAR;
}

/* ---- notes, for a model ---- */

/* The notes with numbers from `from` on, as many as fit; the number after the last of them. Where
 * there are none nothing is put. */
static size_t put_notes(const struct own *own, struct buf *out, size_t from, size_t most,
                        bool cited_alone)
{
    struct buf list;
    size_t number = from;
    buf_init(&list, MIB(2));
    for (; number <= own->notes; number++) {
        const struct evidence_note *note = evidence_note(own->evidence, number);
        const struct evidence_page *page = evidence_page(own->evidence, note->source);
        if (!is_fact(note) || (cited_alone && !note->cited)) {
            continue;
        }
        size_t needs = strlen(note->claim) + strlen(note->quote) + 64;
        if (list.length && list.length + needs > most) {
            break;
        }
        buf_printf(&list, "%s[%zu] %s\nQuote: \"%s\"\nFrom: %s", list.length ? "\n\n" : "", number,
                   note->claim, note->quote, page && *page->host ? page->host : "a page");
    }
    if (list.length) {
        own_put_data(own, out, list.data);
    }
    buf_done(&list);
    return number;
}

static void put_open(const struct own *own, struct buf *out)
{
    struct buf list;
    buf_init(&list, KIB(64));
    for (size_t i = 0; i < own->open_count; i++) {
        buf_printf(&list, "%s- %s", i ? "\n" : "", own->open[i]);
    }
    if (list.length) {
        buf_puts(out, "\nWhat stays open:\n");
        own_put_data(own, out, list.data);
    }
    buf_done(&list);
}

static const char *writing_task(const struct own *own, size_t most)
{
    struct buf out;
    buf_init(&out, MIB(3));
    briefing_put_question(own, &out);
    buf_puts(&out, "\nThe notes:\n");
    if (put_notes(own, &out, 1, most, false) <= own->notes) {
        buf_puts(&out, "Further notes do not fit here.\n");
    }
    briefing_put_conflicts(own, &out);
    put_open(own, &out);
    buf_puts(&out, "\nWrite the report now.\n");
    const char *text = buf_error(&out) ? NULL : arena_strdup(call_arena(own->call), out.data);
    buf_done(&out);
    return text;
}

/* ---- the report ---- */

/* Without a model: each note is a line. */
static const char *list_of_notes(const struct own *own)
{
    struct buf out;
    buf_init(&out, MIB(2));
    buf_puts(&out, "What was found, note by note:\n\n");
    for (size_t i = 1; i <= own->notes; i++) {
        const struct evidence_note *note = evidence_note(own->evidence, i);
        if (is_fact(note)) {
            buf_printf(&out, "- %s [%zu]\n", note->claim, i);
        }
    }
    const char *text = buf_error(&out) ? NULL : arena_strdup(call_arena(own->call), out.data);
    buf_done(&out);
    return text;
}

/* Whether a text leans on at least one note whose quote was found. */
static bool cites(const struct own *own, const char *text)
{
    for (const char *at = strchr(text, '['); at; at = strchr(at + 1, '[')) {
        size_t number = 0;
        for (const char *digit = at + 1; *digit >= '0' && *digit <= '9' && number < 100000;
             digit++) {
            number = number * 10 + (size_t)(*digit - '0');
        }
        const struct evidence_note *note = evidence_note(own->evidence, number);
        if (number && note && is_fact(note)) {
            return true;
        }
    }
    return false;
}

/* Without what a model thought aloud, and without a fence around it. */
static const char *bare(struct arena *arena, const char *text)
{
    static const char THOUGHT[] = "</think>";
    static const char FENCE[] = "```";
    for (const char *end; (end = strstr(text, THOUGHT));) {
        text = end + sizeof THOUGHT - 1;
    }
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1])) {
        length--;
    }
    size_t head = strncmp(text, FENCE, 3) == 0 ? strcspn(text, "\n") : 0;
    if (head && length > head + 4 && strncmp(text + length - 3, FENCE, 3) == 0) {
        text += head + 1;
        length -= head + 4;
    }
    return arena_strndup(arena, text, length);
}

/* One request; a context that is too small gets fewer notes. *text stays NULL where nothing usable
 * came, and a warning says why. A status that ends the call. */
static int ask_writer(struct own *own, const char *reminder, const char **text)
{
    struct arena *arena = call_arena(own->call);
    struct model_reply *reply = arena_zalloc(arena, sizeof *reply);
    int status = ERR_LIMIT;
    for (size_t most = NOTES_CHARS; reply && status == ERR_LIMIT && most >= LEAST_NOTES;
         most /= 2) {
        const char *task = writing_task(own, most);
        struct model_message messages[] = {{.role = MODEL_USER, .text = task},
                                           {.role = MODEL_USER, .text = reminder}};
        struct model_request request = {.system = own->report_prompt,
                                        .messages = messages,
                                        .message_count = reminder ? 2 : 1,
                                        .max_tokens = REPORT_TOKENS};
        if (!task) {
            return ERR_NOMEM;
        }
        status = own_ask(own, own->model, NULL, &request, reply);
    }
    if (!reply || status == ERR_NOMEM || status == ERR_CANCELLED) {
        return reply ? status : ERR_NOMEM;
    }
    struct call_error error = {0};
    if (status == ERR_FAILED) {
        call_take_error(own->call, &error);
    }
    if (status != OK || reply->stop == MODEL_REFUSED) {
        own_warn(own, "the model did not write the report: %s",
                 error.message         ? error.message
                 : status == OK        ? "it refused"
                 : status == ERR_LIMIT ? "its tokens, its money or its context did not suffice"
                                       : "the time was over");
        return OK;
    }
    if (reply->stop == MODEL_CUT) {
        own_warn(own, "the report ends early: the model reached its limit");
    }
    *text = bare(arena, reply->text);
    return *text ? OK : ERR_NOMEM;
}

static int write_report(struct own *own, const char **text)
{
    static const char REMINDER[] =
        "Every sentence that states a fact needs the number of its note in brackets, as [1]. "
        "Write the report again, with numbers of the notes above and of no others.";
    *text = NULL;
    if (journal_last_ms(own->call) >= own->allowance.limit[ALLOWANCE_TIME]) {
        own_warn(own, "the report is a list of notes: the time was over");
        return OK;
    }
    int status = ask_writer(own, NULL, text);
    if (status == OK && *text && !cites(own, *text)) {
        *text = NULL;
        status = ask_writer(own, REMINDER, text);
        if (status == OK && *text && !cites(own, *text)) {
            *text = NULL;
            own_warn(own, "the model wrote a report without evidence, which is not shown");
        }
    }
    return status;
}

/* ---- a second look ---- */

static void take_verdicts(struct own *own, const char *text, const char *judge)
{
    static const struct extract_member WANTED[] = {{"verdicts", YYJSON_TYPE_ARR},
                                                   {NULL, YYJSON_TYPE_NONE}};
    yyjson_val *object;
    if (extract_json(call_arena(own->call), text, strlen(text), WANTED, &object) != OK) {
        own_warn(own, "%s gave no verdicts that could be read", judge);
        return;
    }
    size_t index, most;
    yyjson_val *verdict;
    yyjson_arr_foreach(yyjson_obj_get(object, "verdicts"), index, most, verdict)
    {
        yyjson_val *supported = yyjson_obj_get(verdict, "supported");
        int64_t number = yyjson_get_sint(yyjson_obj_get(verdict, "note"));
        if (yyjson_is_bool(supported) && number > 0) {
            evidence_judge(own->evidence, (size_t)number, yyjson_get_bool(supported) ? 1 : -1,
                           judge);
        }
    }
}

static int ask_judge(struct own *own, struct model *judge)
{
    static const char SHAPE[] =
        "{\"type\":\"object\",\"properties\":{\"verdicts\":{\"type\":\"array\",\"items\":{"
        "\"type\":\"object\",\"properties\":{\"note\":{\"type\":\"integer\"},\"supported\":{"
        "\"type\":\"boolean\"}},\"required\":[\"note\",\"supported\"],\"additionalProperties\":"
        "false}}},\"required\":[\"verdicts\"],\"additionalProperties\":false}";
    struct arena *arena = call_arena(own->call);
    for (size_t from = 1; from <= own->notes;) {
        struct buf out;
        buf_init(&out, MIB(2));
        from = put_notes(own, &out, from, NOTES_CHARS / 4, true);
        if (!out.length) {
            buf_done(&out);
            break; /* no further note is cited */
        }
        const char *task = buf_error(&out) ? NULL : arena_strdup(arena, out.data);
        struct model_reply *reply = arena_zalloc(arena, sizeof *reply);
        struct model_message message = {.role = MODEL_USER, .text = task};
        struct model_request request = {.system = own->judge_prompt,
                                        .messages = &message,
                                        .message_count = 1,
                                        .shape_name = "verdicts",
                                        .shape = SHAPE,
                                        .max_tokens = JUDGE_TOKENS};
        buf_done(&out);
        if (!task || !reply) {
            return ERR_NOMEM;
        }
        int status = own_ask(own, judge, NULL, &request, reply);
        if (status != OK) {
            return status;
        }
        take_verdicts(own, reply->text, model_label(judge));
    }
    return OK;
}

/* What it says is shown beside the evidence, and changes nothing else; its failure is a warning. */
static int look_again(struct own *own)
{
    const char *name = config_text("FORAGE_RESEARCH_JUDGE");
    const char *stopped = own->stopped;
    struct model *judge;
    struct call_error error = {0};
    char problem[300] = "it cannot be asked";
    if (!name) {
        return OK;
    }
    int status = model_choose(call_arena(own->call), name, &judge, problem, sizeof problem);
    if (status == OK) {
        status = ask_judge(own, judge);
    }
    own->stopped = stopped;
    if (status == OK || status == ERR_NOMEM || status == ERR_CANCELLED) {
        return status;
    }
    if (status == ERR_FAILED) {
        call_take_error(own->call, &error);
    }
    own_warn(own, "FORAGE_RESEARCH_JUDGE did not judge: %s",
             error.message ? error.message : problem);
    return OK;
}

int writing_run(struct own *own, const char **markdown)
{
    const char *text;
    const char *stopped = own->stopped;
    own->writing = true;
    own_say(own, "writing the report from %zu notes", own->facts);
    int status = write_report(own, &text);
    own->stopped = stopped;
    if (status != OK) {
        return status;
    }
    text = text ? text : list_of_notes(own);
    text = text ? report_fit(own->call, text) : NULL;
    evidence_limit_footnotes(own->evidence, budget_chars() / 8);
    status = text ? evidence_render(own->evidence, text, markdown) : ERR_NOMEM;
    return status == OK ? look_again(own) : status;
}
