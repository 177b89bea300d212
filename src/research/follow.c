/* Reads and writes what questions that follow on each other need of one another. */
#include "research/follow.h"

#include "core/limits.h"
#include "embedded.h"
#include "research/steps.h"
#include "text/text.h"

#include <string.h>

#define ANSWER_CHARS   12000u /* of the last answer that is kept; */
#define SHOWN_CHARS    4000u  /* that a model sees; */
#define EARLIER_CHARS  1000u  /* and of each one before */
#define NOTES_SHOWN    40u
#define MOST_NOTES     200u
#define QUESTION_CHARS 800u
#define TOKENS         2048

static const char *clip(struct arena *arena, const char *text, size_t most)
{
    text = text ? text : "";
    return arena_strndup(arena, text, text_prefix(text, strlen(text), most));
}

/* ---- reading ---- */

int follow_read(struct arena *arena, const char *text, struct follow *follow)
{
    yyjson_doc *doc = json_parse(arena, text, strlen(text), NULL);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *turns = yyjson_obj_get(root, "turns");
    size_t count = yyjson_arr_size(turns);
    size_t index, most;
    yyjson_val *turn;
    *follow = (struct follow){
        .depth = (size_t)yyjson_get_uint(yyjson_obj_get(root, "depth")),
        .notes = yyjson_obj_get(root, "notes"),
        .pages = yyjson_obj_get(root, "pages"),
    };
    if (!doc || !count || count > FOLLOW_TURNS + 1) {
        return arena_failed(arena) ? ERR_NOMEM : ERR_INVALID;
    }
    yyjson_arr_foreach(turns, index, most, turn)
    {
        struct follow_turn *read = &follow->turns[follow->turn_count++];
        read->question = json_string(turn, "question");
        read->answer = json_string(turn, "answer");
        if (!read->question || !read->answer) {
            return ERR_INVALID;
        }
    }
    return OK;
}

/* ---- writing ---- */

static void add_turn(struct arena *arena, yyjson_mut_doc *doc, yyjson_mut_val *turns,
                     const char *question, const char *answer, size_t most)
{
    yyjson_mut_val *turn = yyjson_mut_arr_add_obj(doc, turns);
    json_add_string(doc, turn, "question", clip(arena, question, QUESTION_CHARS));
    json_add_string(doc, turn, "answer", clip(arena, answer, most));
}

static void add_notes(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct evidence *evidence)
{
    yyjson_mut_val *notes = yyjson_mut_obj_add_arr(doc, root, "notes");
    size_t count = evidence ? evidence_note_count(evidence) : 0;
    for (size_t i = 1; i <= count && yyjson_mut_arr_size(notes) < MOST_NOTES; i++) {
        const struct evidence_note *note = evidence_note(evidence, i);
        if (note->grade == EVIDENCE_EXACT || note->grade == EVIDENCE_NEAR) {
            yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, notes);
            json_add_string(doc, one, "claim", note->claim);
            json_add_string(doc, one, "quote", note->quote);
            json_add_string(doc, one, "url", note->url);
        }
    }
}

static void add_pages(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct evidence *evidence)
{
    yyjson_mut_val *pages = yyjson_mut_obj_add_arr(doc, root, "pages");
    size_t count = evidence ? evidence_page_count(evidence) : 0;
    for (size_t i = 1; i <= count; i++) {
        const struct evidence_page *page = evidence_page(evidence, i);
        if (page->text) {
            yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, pages);
            json_add_string(doc, one, "url", page->url);
            json_add_string(doc, one, "also", page->also);
            json_add_string(doc, one, "title", page->title);
            yyjson_mut_obj_add_sint(doc, one, "read_ms", page->read_ms);
            yyjson_mut_obj_add_strn(doc, one, "text", page->text, page->length);
        }
    }
}

const char *follow_write(struct arena *arena, const struct follow *before, const char *question,
                         const char *answer, const struct evidence *evidence)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_uint(doc, root, "depth", before ? before->depth + 1 : 1);
    yyjson_mut_val *turns = yyjson_mut_obj_add_arr(doc, root, "turns");
    size_t count = before ? before->turn_count : 0;
    for (size_t i = count > FOLLOW_TURNS ? count - FOLLOW_TURNS : 0; i < count; i++) {
        add_turn(arena, doc, turns, before->turns[i].question, before->turns[i].answer,
                 EARLIER_CHARS);
    }
    add_turn(arena, doc, turns, question, answer, ANSWER_CHARS);
    add_notes(doc, root, evidence);
    add_pages(doc, root, evidence);
    return doc ? json_text(arena, root, NULL) : NULL;
}

/* ---- for a model ---- */

void follow_put(struct buf *out, const struct follow *follow, bool notes)
{
    size_t index, most;
    yyjson_val *note;
    for (size_t i = 0; i < follow->turn_count; i++) {
        const struct follow_turn *turn = &follow->turns[i];
        size_t length = strlen(turn->answer);
        buf_printf(out, "%sQuestion: %s\nAnswer: %.*s\n", i ? "\n" : "", turn->question,
                   (int)text_prefix(turn->answer, length, SHOWN_CHARS), turn->answer);
    }
    yyjson_arr_foreach(follow->notes, index, most, note)
    {
        const char *claim = json_string(note, "claim");
        const char *quote = json_string(note, "quote");
        const char *url = json_string(note, "url");
        if (notes && index < NOTES_SHOWN && claim && quote && url) {
            buf_printf(out, "%s- %s\n  Quote: \"%s\"\n  From: %s\n", index ? "" : "\nNotes:\n",
                       claim, quote, url);
        }
    }
}

int follow_request(struct arena *arena, const struct follow *follow, const char *words,
                   const char *tag, struct model_request *request)
{
    static const char SHAPE[] =
        "{\"type\":\"object\",\"properties\":{\"question\":{\"type\":\"string\"}},\"required\":["
        "\"question\"],\"additionalProperties\":false}";
    struct buf system, task;
    const struct text_blank blanks[] = {{"{tag}", tag}};
    struct model_message *message = arena_zalloc(arena, sizeof *message);
    buf_init(&system, KIB(64));
    buf_init(&task, MIB(1));
    text_fill(&system, prompt_follow, blanks, 1);
    buf_printf(&task, "What was said before:\n<data-%s>\n", tag);
    follow_put(&task, follow, false);
    buf_printf(
        &task,
        "</data-%s>\n\nThe new question, word for word:\n<question-%s>\n%s\n</question-%s>\n", tag,
        tag, words, tag);
    *request = (struct model_request){
        .system = buf_to_arena(&system, arena),
        .messages = message,
        .message_count = 1,
        .shape_name = "question",
        .shape = SHAPE,
        .max_tokens = TOKENS,
    };
    const char *text = buf_to_arena(&task, arena);
    if (!message || !text || !request->system) {
        return ERR_NOMEM;
    }
    *message = (struct model_message){.role = MODEL_USER, .text = text};
    return OK;
}

/* The question in a reply, on one line; NULL: there is none. */
static const char *question_in(struct arena *arena, const char *text)
{
    static const struct extract_member WANTED[] = {{"question", YYJSON_TYPE_STR},
                                                   {NULL, YYJSON_TYPE_NONE}};
    yyjson_val *object;
    if (extract_json(arena, text, strlen(text), WANTED, &object) != OK) {
        return NULL;
    }
    const char *said = json_string(object, "question");
    char *line = arena_strndup(arena, said, text_prefix(said, strlen(said), QUESTION_CHARS));
    for (char *at = line; at && *at; at++) {
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    }
    return line && line[strspn(line, " ")] ? line : NULL;
}

const char *follow_question(struct arena *arena, const struct follow *follow, const char *words,
                            const struct model_reply *reply)
{
    const char *question = reply ? question_in(arena, reply->text) : NULL;
    const char *before = follow->turns[follow->turn_count - 1].question;
    return question ? question : arena_printf(arena, "%s (it follows on: %s)", words, before);
}

/* ---- pages ---- */

/* The source of a page: by either of its addresses, or a new one while there may be more. */
static struct research_source *source_of(struct arena *arena, struct sources *sources,
                                         yyjson_val *page, size_t most)
{
    const char *addresses[] = {json_string(page, "also"), json_string(page, "url")};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        size_t number = addresses[i] ? sources_find(arena, sources, addresses[i]) : 0;
        if (number) {
            return sources_get(sources, (int64_t)number);
        }
    }
    const char *url = addresses[0] ? addresses[0] : addresses[1];
    size_t number = url && sources->count < most
                        ? sources_add(arena, sources, url, json_string(page, "title"), NULL)
                        : 0;
    return sources_get(sources, (int64_t)number);
}

int follow_take_pages(struct arena *arena, const struct follow *follow, int64_t now_ms,
                      struct evidence *evidence, struct sources *sources, size_t most)
{
    size_t index, count;
    yyjson_val *page;
    yyjson_arr_foreach(follow->pages, index, count, page)
    {
        const char *url = json_string(page, "url");
        const char *title = json_string(page, "title");
        const char *text = json_string(page, "text");
        const char *also = json_string(page, "also");
        int64_t read_ms = yyjson_get_sint(yyjson_obj_get(page, "read_ms"));
        bool fresh = read_ms <= now_ms && now_ms - read_ms < TIME_FOLLOW_FRESH_MS;
        struct research_source *source =
            fresh && url && title && text ? source_of(arena, sources, page, most) : NULL;
        if (source && !source->page) {
            source->page = evidence_add_page(evidence, url, title, text, read_ms);
            source->chars = source->page ? text_count(text, strlen(text)) : 0;
            if (also) {
                evidence_also(evidence, source->page, also);
            }
        }
    }
    return arena_failed(arena) ? ERR_NOMEM : OK;
}
