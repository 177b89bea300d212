/* Puts a reply together from the parts that dialects find in events. */
#include "model/draft.h"

#include "model/dialect.h"

#include <string.h>

void draft_start(struct draft *draft, struct arena *arena, struct arena *scratch,
                 const struct model_provider *provider)
{
    *draft = (struct draft){.arena = arena,
                            .scratch = scratch,
                            .provider = provider,
                            .open_use = SIZE_MAX,
                            .error.retry_ms = -1};
    struct buf *texts[] = {&draft->text,  &draft->refusal,   &draft->spare, &draft->piece,
                           &draft->began, &draft->reasoning, &draft->seal};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buf_init(texts[i], LIMIT_REPLY_TEXT_BYTES);
    }
    buf_init(&draft->items, LIMIT_REPLY_BYTES);
}

void draft_done(struct draft *draft)
{
    struct buf *texts[] = {&draft->text,  &draft->refusal,   &draft->spare, &draft->piece,
                           &draft->began, &draft->reasoning, &draft->seal,  &draft->items};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buf_done(texts[i]);
    }
    for (size_t i = 0; i < draft->use_count; i++) {
        buf_done(&draft->uses[i].id);
        buf_done(&draft->uses[i].name);
        buf_done(&draft->uses[i].arguments);
    }
}

/* ---- adding ---- */

static void note(struct draft *draft, int status)
{
    if (draft->status == OK) {
        draft->status = status;
    }
}

void draft_add(struct draft *draft, struct buf *to, yyjson_val *value)
{
    if (!yyjson_is_str(value)) {
        return;
    }
    size_t before = to->length;
    note(draft, buf_append(to, yyjson_get_str(value), yyjson_get_len(value)));
    for (size_t i = before; i < to->length; i++) {
        if (to->data[i] == '\0') {
            to->data[i] = ' ';
        }
    }
}

struct model_part *draft_add_part(struct draft *draft, struct buf *to, yyjson_val *value)
{
    size_t before = to->length;
    draft_add(draft, to, value);
    bool counts = to == &draft->text || !draft->text.length;
    if (to->length == before || !counts) {
        return NULL;
    }
    if (to == &draft->text && before == 0) {
        draft->part_count = 0; /* what was said before it is no answer any more */
    }
    if (draft->part_count == LIMIT_REPLY_PARTS) {
        note(draft, ERR_LIMIT);
        return NULL;
    }
    if (!draft->parts) {
        draft->parts = arena_alloc(draft->arena, LIMIT_REPLY_PARTS * sizeof *draft->parts);
    }
    const char *text = arena_strndup(draft->arena, to->data + before, to->length - before);
    if (!draft->parts || !text) {
        return NULL;
    }
    struct model_part *part = &draft->parts[draft->part_count++];
    *part = (struct model_part){.text = text, .length = to->length - before};
    return part;
}

struct draft_use *draft_add_use(struct draft *draft, int64_t index)
{
    if (draft->use_count == LIMIT_REPLY_USES) {
        note(draft, ERR_LIMIT);
        return &draft->uses[LIMIT_REPLY_USES - 1];
    }
    struct draft_use *use = &draft->uses[draft->use_count++];
    use->index = index;
    buf_init(&use->id, KIB(1));
    buf_init(&use->name, KIB(1));
    buf_init(&use->arguments, LIMIT_REPLY_TEXT_BYTES);
    return use;
}

void draft_add_arguments(struct draft *draft, struct draft_use *use, yyjson_val *value)
{
    if (yyjson_is_ctn(value)) {
        note(draft, json_write_immutable(&use->arguments, draft->scratch, value));
    } else {
        draft_add(draft, &use->arguments, value);
    }
}

static void separate(struct draft *draft)
{
    if (draft->items.length) {
        note(draft, buf_putc(&draft->items, ','));
    }
}

void draft_add_item(struct draft *draft, yyjson_val *value)
{
    separate(draft);
    note(draft, json_write_immutable(&draft->items, draft->scratch, value));
}

void draft_add_new_item(struct draft *draft, const yyjson_mut_val *value)
{
    separate(draft);
    note(draft, json_write(&draft->items, draft->scratch, value));
}

void draft_fail(struct draft *draft, yyjson_val *root)
{
    if (!draft->failed) {
        draft->failed = true;
        error_read_value(draft->arena, root, &draft->error);
    }
}

void draft_stop(struct draft *draft, yyjson_val *word, const struct draft_word *words, size_t count,
                enum draft_end otherwise)
{
    if (yyjson_get_len(word) == 0 || !yyjson_is_str(word)) {
        return;
    }
    draft->end = otherwise;
    for (size_t i = 0; i < count; i++) {
        if (yyjson_equals_str(word, words[i].word)) {
            draft->end = words[i].end;
        }
    }
}

int64_t draft_number(yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    double number = yyjson_is_num(value) ? yyjson_get_num(value) : -1;
    return number >= 0 && number <= (double)LIMIT_USAGE_COUNT ? (int64_t)number : -1;
}

void draft_count(struct draft *draft, yyjson_val *object, const char *key, int64_t *count)
{
    int64_t number = draft_number(object, key);
    if (number >= 0) {
        *count = number;
        draft->counted = true;
    }
}

/* ---- the reply ---- */

const char *draft_items(struct draft *draft, const struct model_reply *reply)
{
    (void)reply;
    return arena_printf(draft->arena, "[%s]", draft->items.data ? draft->items.data : "");
}

/* The arguments as JSON text of an object, or NULL. Some write nothing where there are none, and
 * some write the object as a string once more. */
static const char *read_arguments(struct arena *arena, struct arena *scratch, const char *raw,
                                  int depth)
{
    size_t blank = strspn(raw, " \t\r\n");
    if (!raw[blank] || strcmp(raw + blank, "null") == 0) {
        return "{}";
    }
    yyjson_val *root = yyjson_doc_get_root(json_parse(scratch, raw, strlen(raw), NULL));
    if (yyjson_is_str(root) && depth == 0 && !json_holds_nul(root)) {
        return read_arguments(arena, scratch, yyjson_get_str(root), 1);
    }
    return yyjson_is_obj(root) && !json_holds_nul(root) ? json_text_of(arena, root) : NULL;
}

static const char *keep(struct draft *draft, const struct buf *text)
{
    return text->length ? arena_strndup(draft->arena, text->data, text->length) : "";
}

static int finish_uses(struct draft *draft, size_t turn, struct model_reply *reply)
{
    struct model_use *uses = arena_zalloc(draft->arena, (draft->use_count + 1) * sizeof *uses);
    if (!uses) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < draft->use_count; i++) {
        const struct draft_use *from = &draft->uses[i];
        uses[i] = (struct model_use){
            .id = keep(draft, &from->id),
            .name = keep(draft, &from->name),
            .raw = keep(draft, &from->arguments),
            .unnamed = from->id.length == 0,
        };
        if (uses[i].unnamed) {
            /* Mistral takes nine letters and digits, nothing else; the others take anything. */
            uses[i].id =
                arena_printf(draft->arena, "call%05zu", (turn * LIMIT_REPLY_USES + i) % 100000);
        }
        if (uses[i].raw) {
            uses[i].arguments = read_arguments(draft->arena, draft->scratch, uses[i].raw, 0);
        }
    }
    reply->uses = uses;
    reply->use_count = draft->use_count;
    return arena_failed(draft->arena) || arena_failed(draft->scratch) ? ERR_NOMEM : OK;
}

/* What stands before the answer of a model whose server does not take its thinking apart. */
static void drop_thinking(struct buf *text)
{
    static const char OPEN[] = "<think>";
    static const char CLOSE[] = "</think>";
    const char *start = text->data + strspn(text->data, " \t\r\n");
    const char *close = strstr(start, CLOSE);
    const char *open = strstr(start, OPEN);
    if (close && (open == start || !open || open > close)) {
        const char *rest = close + strlen(CLOSE);
        buf_consume(text, (size_t)(rest + strspn(rest, "\r\n") - text->data));
    } else if (open == start && !close) {
        buf_clear(text); /* it was cut while it thought */
    }
}

static enum model_stop stop_of(const struct draft *draft, const struct model_reply *reply)
{
    bool sound = true;
    for (size_t i = 0; i < reply->use_count; i++) {
        sound = sound && reply->uses[i].arguments;
    }
    bool cut = draft->end == DRAFT_LENGTH || draft->end == DRAFT_CONTEXT;
    if (reply->use_count && (sound || !cut)) {
        return MODEL_USES;
    }
    return cut                                                     ? MODEL_CUT
           : draft->end == DRAFT_FILTERED || draft->refusal.length ? MODEL_REFUSED
                                                                   : MODEL_ENDED;
}

int draft_finish(struct draft *draft, size_t turn, struct model_reply *reply)
{
    if (draft->status != OK) {
        return draft->status;
    }
    if (draft->text.length && draft->provider->shows_thinking) {
        drop_thinking(&draft->text);
    }
    const struct buf *text = draft->text.length      ? &draft->text
                             : draft->refusal.length ? &draft->refusal
                                                     : &draft->spare;
    reply->text = keep(draft, text);
    reply->parts = draft->parts;
    reply->part_count = draft->part_count;
    reply->searches = draft->searches;
    reply->failed_searches = draft->failed_searches;
    int status = finish_uses(draft, turn, reply);
    reply->stop = stop_of(draft, reply);
    return status != OK || !reply->text ? ERR_NOMEM : OK;
}
