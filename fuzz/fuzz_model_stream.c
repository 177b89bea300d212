/* Fuzzes what models and their services send. The first byte names the dialect, the second the size
 * of the pieces that the rest comes in. Whatever comes: it gives the same reply as in one piece;
 * texts are valid UTF-8 without NUL; arguments are objects; and the reply can be sent back, in a
 * request that is JSON. The same bytes are also read as an error and judged. */
#include "core/limits.h"
#include "fuzz.h"
#include "model/stream.h"
#include "text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_model_stream: %s\n", what);
        abort();
    }
}

static const struct dialect *dialect_of(uint8_t letter)
{
    return letter == 'r'   ? &DIALECT_RESPONSES
           : letter == 'm' ? &DIALECT_MESSAGES
           : letter == 'g' ? &DIALECT_GEMINI
                           : &DIALECT_CHAT;
}

/* What came of one way to cut the bytes; empty texts where there was no reply. */
struct outcome {
    const char *problem;
    int status;
    bool failed;
    struct model_reply reply;
};

static struct outcome read_in_pieces(struct arena *arena, const struct dialect *dialect,
                                     const struct model_provider *provider, const char *data,
                                     size_t size, size_t piece)
{
    struct outcome outcome = {.reply = {.text = "", .echo = ""}};
    struct stream *stream = stream_new(arena, dialect, provider);
    require(stream != NULL, "memory");
    bool more = true;
    for (size_t at = 0; at < size && more; at += piece) {
        more = stream_feed(stream, data + at, size - at < piece ? size - at : piece);
    }
    struct draft *draft = stream_end(stream, &outcome.problem);
    outcome.failed = draft->failed;
    outcome.status = draft->status;
    if (draft->status == OK && !draft->failed && !outcome.problem) {
        outcome.status = draft_finish(draft, 3, &outcome.reply);
        require(outcome.status == OK, "a sound draft makes a reply");
        outcome.reply.echo = dialect->echo(draft, &outcome.reply);
        require(outcome.reply.echo != NULL, "a reply can be sent back");
    }
    stream_free(stream);
    return outcome;
}

static void check_text(const char *text)
{
    require(text && text_is_utf8(text, strlen(text)), "a text is no UTF-8");
}

static bool is_json(struct arena *arena, const char *text, bool object)
{
    yyjson_val *root = yyjson_doc_get_root(json_parse(arena, text, strlen(text), NULL));
    return object ? yyjson_is_obj(root) : root != NULL;
}

static void check_reply(struct arena *arena, const struct dialect *dialect,
                        const struct model *model, const struct model_reply *reply)
{
    check_text(reply->text);
    for (size_t i = 0; i < reply->use_count; i++) {
        const struct model_use *use = &reply->uses[i];
        check_text(use->id);
        check_text(use->name);
        check_text(use->raw);
        require(*use->id != '\0', "a use without an id");
        require(!use->arguments || is_json(arena, use->arguments, true), "arguments");
    }
    struct model_message messages[3 + LIMIT_REPLY_USES] = {
        {.role = MODEL_USER, .text = "question"},
        {.role = MODEL_ASSISTANT, .reply = reply},
    };
    size_t count = 2;
    for (size_t i = 0; i < reply->use_count; i++) {
        messages[count++] =
            (struct model_message){.role = MODEL_RESULT, .text = "result", .use = &reply->uses[i]};
    }
    const struct model_request request = {.messages = messages, .message_count = count};
    for (unsigned without = 0; without < 2; without++) {
        yyjson_mut_doc *doc = json_new(arena);
        yyjson_mut_val *root = yyjson_mut_obj(doc);
        dialect->write(doc, root, model, &request, without ? 0 : CHOICE_ALL, 100);
        const char *body = json_text(arena, root, NULL);
        require(body && is_json(arena, body, true), "the next request is no JSON");
    }
}

static void check_error(struct arena *arena, const char *text, size_t size)
{
    static const int STATUSES[] = {0, 200, 400, 404, 429, 500};
    struct model_error error;
    error_read(arena, text, size, &error);
    for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++) {
        (void)failure_judge(&error, STATUSES[i], NULL, i % 2);
    }
    (void)failure_choice(&error, CHOICE_ALL);
    int64_t most = failure_most_tokens(&error, 8192);
    require(most == 0 || (most >= 256 && most < 8192), "a limit of tokens");
    require(error.retry_ms >= -1, "a pause");
}

FUZZ_TARGET(model_stream)
{
    static const struct model_provider PROVIDER = {
        .name = "fuzz", .title = "Fuzz", .choices = CHOICE_ALL};
    struct model model = {.provider = &PROVIDER, .name = "m", .label = "fuzz:m", .address = ""};
    struct arena *arena = arena_new(MIB(256));
    if (!arena || size < 2) {
        arena_free(arena);
        return 0;
    }
    const struct dialect *dialect = dialect_of(data[0]);
    const char *bytes = (const char *)data + 2;
    size_t length = size - 2;
    struct outcome one =
        read_in_pieces(arena, dialect, &PROVIDER, bytes, length, length ? length : 1);
    struct outcome many =
        read_in_pieces(arena, dialect, &PROVIDER, bytes, length, 1 + data[1] % 64);
    require(one.status == many.status && one.failed == many.failed, "the outcome depends on cuts");
    require((one.problem == NULL) == (many.problem == NULL), "the problem depends on cuts");
    require(strcmp(one.reply.text, many.reply.text) == 0, "the text depends on cuts");
    require(strcmp(one.reply.echo, many.reply.echo) == 0, "the echo depends on cuts");
    require(one.reply.use_count == many.reply.use_count, "the uses depend on cuts");
    if (*one.reply.echo) {
        check_reply(arena, dialect, &model, &one.reply);
    }
    check_error(arena, bytes, length);
    arena_free(arena);
    return 0;
}
