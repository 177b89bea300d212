/* Reads moves from calls of tools, and from JSON that a model wrote instead of calling one. */
#include "research/own/moves.h"

#include "core/sha256.h"
#include "embedded.h"
#include "research/own/plain.h"
#include "research/steps.h"
#include "text/json.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Other names that models use for them. */
static const struct {
    const char *name;
    enum move_kind kind;
} NAMES[] = {
    {"plan", MOVE_PLAN},   {"search", MOVE_SEARCH},     {"web_search", MOVE_SEARCH},
    {"read", MOVE_READ},   {"read_sources", MOVE_READ}, {"note", MOVE_NOTE},
    {"notes", MOVE_NOTE},  {"take_notes", MOVE_NOTE},   {"finish", MOVE_FINISH},
    {"done", MOVE_FINISH},
};

int moves_tools(struct arena *arena, struct model_tool tools[MOVE_KINDS])
{
    yyjson_doc *doc = json_embedded(arena, own_tools);
    for (size_t i = 0; doc && i < MOVE_KINDS; i++) {
        yyjson_val *tool = yyjson_arr_get(yyjson_doc_get_root(doc), i);
        tools[i] = (struct model_tool){
            .name = json_string(tool, "name"),
            .description = json_string(tool, "description"),
            .schema = json_text_of(arena, yyjson_obj_get(tool, "schema")),
        };
    }
    return doc && !arena_failed(arena) ? OK : ERR_NOMEM;
}

/* ---- values, whatever their type ---- */

int64_t move_number(const char *text)
{
    static const char WORD[] = "source";
    text += strspn(text, " \t[#(*");
    if (strncasecmp(text, WORD, sizeof WORD - 1) == 0) {
        text += sizeof WORD - 1;
        text += strspn(text, " \t#:=[");
    }
    char *end;
    if (*text < '0' || *text > '9') {
        return -1;
    }
    long long number = strtoll(text, &end, 10);
    end += strspn(end, " \t]).*\r\n");
    return *end || number > INT32_MAX ? -1 : (int64_t)number;
}

static int64_t number_of(yyjson_val *value)
{
    if (yyjson_is_str(value)) {
        return move_number(yyjson_get_str(value));
    }
    return yyjson_is_num(value) && yyjson_get_num(value) >= 0 && yyjson_get_num(value) < INT32_MAX
               ? (int64_t)yyjson_get_num(value)
               : -1;
}

/* The first of these members that is there; names end with a NULL. */
static yyjson_val *member(yyjson_val *object, const char *const *names)
{
    for (; *names; names++) {
        yyjson_val *value = yyjson_obj_get(object, *names);
        if (value && !yyjson_is_null(value)) {
            return value;
        }
    }
    return NULL;
}

#define MEMBER(object, ...) member(object, (const char *const[]){__VA_ARGS__, NULL})

/* A list of texts, or a text alone; what is empty is passed over. */
static size_t take_texts(yyjson_val *value, const char *texts[MOVE_TEXTS])
{
    size_t count = 0;
    size_t size = yyjson_is_arr(value) ? yyjson_arr_size(value) : 1;
    for (size_t i = 0; i < size && count < MOVE_TEXTS; i++) {
        yyjson_val *item = yyjson_is_arr(value) ? yyjson_arr_get(value, i) : value;
        const char *text = yyjson_get_str(item);
        if (text && text[strspn(text, " \t\r\n")]) {
            texts[count++] = text;
        }
    }
    return count;
}

static void take_sources(yyjson_val *value, struct move *move)
{
    size_t size = yyjson_is_arr(value) ? yyjson_arr_size(value) : value != NULL;
    for (size_t i = 0; i < size && move->source_count < MOVE_SOURCES; i++) {
        yyjson_val *item = yyjson_is_arr(value) ? yyjson_arr_get(value, i) : value;
        move->sources[move->source_count++] = number_of(item);
    }
}

static void take_notes(yyjson_val *arguments, struct move *move)
{
    yyjson_val *list = MEMBER(arguments, "notes", "facts");
    list = list ? list : arguments;
    size_t size = yyjson_is_arr(list) ? yyjson_arr_size(list) : 1;
    for (size_t i = 0; i < size && move->note_count < MOVE_NOTES; i++) {
        yyjson_val *item = yyjson_is_arr(list) ? yyjson_arr_get(list, i) : list;
        const char *claim = json_string(item, "claim");
        const char *quote = json_string(item, "quote");
        if (quote) {
            move->notes[move->note_count++] = (struct move_note){
                .claim = claim ? claim : quote,
                .quote = quote,
                .source = number_of(MEMBER(item, "source", "source_id", "sources")),
            };
        }
    }
}

/* ---- moves ---- */

static void fill(yyjson_val *arguments, struct move *move)
{
    switch (move->kind) {
    case MOVE_PLAN:
        move->text_count = take_texts(MEMBER(arguments, "parts", "questions", "plan"), move->texts);
        move->trouble = move->text_count ? NULL : "parts: give a list of questions";
        break;
    case MOVE_SEARCH:
        move->text_count = take_texts(MEMBER(arguments, "queries", "query", "q"), move->texts);
        move->trouble = move->text_count ? NULL : "queries: give a list of 1 to 4 texts";
        break;
    case MOVE_READ:
        take_sources(MEMBER(arguments, "sources", "source", "source_ids"), move);
        move->question = json_string(arguments, "question");
        move->start = number_of(yyjson_obj_get(arguments, "start"));
        move->start = move->start > 0 ? move->start : 0;
        move->trouble = move->source_count ? NULL : "sources: give a list of numbers";
        break;
    case MOVE_NOTE:
        take_notes(arguments, move);
        move->trouble =
            move->note_count ? NULL : "notes: give a list of objects with claim, quote and source";
        break;
    default:
        move->text_count = take_texts(yyjson_obj_get(arguments, "open_questions"), move->texts);
        move->uncovered = yyjson_is_false(yyjson_obj_get(arguments, "covered"));
        move->disputed_count = take_texts(yyjson_obj_get(arguments, "disputed"), move->disputed);
    }
    int64_t part = number_of(yyjson_obj_get(arguments, "part"));
    move->part = part > 0 ? part : 0;
}

void move_of_use(struct arena *arena, const char *name, const char *arguments, struct move *move)
{
    *move = (struct move){.kind = MOVE_KINDS, .trouble = "out of memory"};
    for (size_t i = 0; name && i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcasecmp(name, NAMES[i].name) == 0) {
            move->kind = NAMES[i].kind;
        }
    }
    if (move->kind == MOVE_KINDS) {
        move->trouble = "there is no such tool; the tools are plan, search, read, note and finish";
        return;
    }
    struct json_problem problem;
    yyjson_doc *doc = arguments ? json_parse(arena, arguments, strlen(arguments), &problem) : NULL;
    yyjson_val *root = doc ? yyjson_doc_get_root(doc) : NULL;
    if (!yyjson_is_obj(root) && move->kind != MOVE_FINISH) {
        move->trouble = "the arguments are no JSON object; call the tool again with one";
        return;
    }
    move->trouble = NULL;
    fill(root, move);
}

static void add_text(struct sha256 *sha, const char *text)
{
    sha256_add(sha, text, strlen(text) + 1); /* with its end, so that two texts are not one */
}

static void add_number(struct sha256 *sha, int64_t number)
{
    sha256_add(sha, &number, sizeof number);
}

const char *move_key(struct arena *arena, const struct move *move)
{
    struct sha256 sha;
    unsigned char digest[SHA256_SIZE];
    char *key = arena_alloc(arena, 2 * sizeof digest + 1);
    sha256_init(&sha);
    add_number(&sha, move->kind);
    for (size_t i = 0; i < move->text_count; i++) {
        add_text(&sha, move->texts[i]);
    }
    for (size_t i = 0; i < move->source_count; i++) {
        add_number(&sha, move->sources[i]);
    }
    add_number(&sha, move->start);
    add_text(&sha, move->question ? move->question : "");
    sha256_end(&sha, digest);
    for (size_t i = 0; key && i < sizeof digest; i++) {
        snprintf(key + 2 * i, 3, "%02x", digest[i]);
    }
    return key;
}

/* ---- JSON in words ---- */

/* A call that a model wrote down instead of making it. */
static bool take_json(struct arena *arena, const char *words, struct move *move)
{
    static const struct extract_member SHAPES[][3] = {
        {{"name", YYJSON_TYPE_STR}, {"arguments", YYJSON_TYPE_OBJ}, {NULL, YYJSON_TYPE_NONE}},
        {{"name", YYJSON_TYPE_STR}, {"parameters", YYJSON_TYPE_OBJ}, {NULL, YYJSON_TYPE_NONE}},
        {{"tool", YYJSON_TYPE_STR}, {"arguments", YYJSON_TYPE_OBJ}, {NULL, YYJSON_TYPE_NONE}},
    };
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        yyjson_val *object;
        if (extract_json(arena, words, strlen(words), SHAPES[i], &object) == OK) {
            const char *arguments = json_text_of(arena, yyjson_obj_get(object, SHAPES[i][1].name));
            move_of_use(arena, json_string(object, SHAPES[i][0].name), arguments, move);
            return move->kind != MOVE_KINDS;
        }
    }
    return false;
}

size_t moves_of_words(struct arena *arena, const char *words, struct move moves[MOVES_OF_TURN])
{
    static const char THOUGHT[] = "</think>";
    for (const char *end; (end = strstr(words, THOUGHT));) {
        words = end + sizeof THOUGHT - 1;
    }
    size_t count = plain_read(arena, words, moves);
    if (!count && strchr(words, '{') && take_json(arena, words, &moves[0])) {
        count = 1;
    }
    return count;
}
