/* Fills the templates of prompts, ours and the user's own. */
#include "research/steps.h"

#include "core/files.h"
#include "core/limits.h"
#include "core/status.h"
#include "embedded.h"
#include "text/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- the caller's words ---- */

/* A worker replaces @PATH in its prompt by that file's content, unless a backslash stands before
 * the at sign. */
static void put_escaped(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '@') {
            buf_putc(out, '\\');
        }
        buf_putc(out, *text);
    }
}

/* Appends what the question follows on. */
static int put_earlier(struct buf *out, const struct follow *follow, const char *tag)
{
    struct buf plain, escaped;
    buf_init(&plain, LIMIT_PROMPT_BYTES * 4);
    buf_init(&escaped, LIMIT_PROMPT_BYTES * 8);
    follow_put(&plain, follow, true);
    put_escaped(&escaped, plain.data ? plain.data : "");
    int status = buf_error(&plain) ? buf_error(&plain) : buf_error(&escaped);
    if (status == OK) {
        const struct text_blank blanks[] = {{"{earlier}", escaped.data}, {"{tag}", tag}};
        text_fill(out, prompt_follow_worker, blanks, 2);
        status = buf_error(out);
    }
    buf_done(&plain);
    buf_done(&escaped);
    return status;
}

int prompt_fill(struct buf *out, const char *template, const struct prompt_values *values,
                const char *tag)
{
    struct buf question, model;
    char rounds[16];
    buf_init(&question, LIMIT_PROMPT_BYTES * 8);
    buf_init(&model, LIMIT_PROMPT_BYTES);
    buf_printf(&question, "<question-%s>\n", tag);
    put_escaped(&question, values->question);
    buf_printf(&question, "\n</question-%s>", tag);
    put_escaped(&model, values->model);
    buf_puts(&model, "");
    snprintf(rounds, sizeof rounds, "%d", values->max_rounds);
    int status = buf_error(&question) ? buf_error(&question) : buf_error(&model);
    if (status == OK) {
        const struct text_blank blanks[] = {
            {"{{query}}", question.data}, {"{{topic}}", question.data},
            {"{query}", question.data},   {"{topic}", question.data},
            {"{{depth}}", values->depth}, {"{depth}", values->depth},
            {"{{model}}", model.data},    {"{model}", model.data},
            {"{max_iterations}", rounds},
        };
        const unsigned asks = 0xF; /* the first four */
        if (!(text_fill(out, template, blanks, sizeof blanks / sizeof *blanks) & asks)) {
            buf_printf(out, "\n\n%s\n", question.data);
        }
        status = buf_error(out);
    }
    buf_done(&question);
    buf_done(&model);
    return status == OK && values->follow ? put_earlier(out, values->follow, tag) : status;
}

/* ---- templates ---- */

/* The whole file as text in the arena; NULL when it is not there, too large, or no text. */
static const char *read_text(struct arena *arena, const char *path)
{
    struct buf text;
    buf_init(&text, LIMIT_PROMPT_BYTES);
    bool usable = read_whole(path, &text) == OK && text.length > 0 &&
                  text_is_utf8(text.data, text.length) && !memchr(text.data, '\0', text.length);
    const char *copy = usable ? arena_strndup(arena, text.data, text.length) : NULL;
    buf_done(&text);
    return copy;
}

const char *prompt_template(struct arena *arena, const char *folder, const char *name,
                            const char *built_in)
{
    const char *path = folder ? arena_printf(arena, "%s/%s.md", folder, name) : NULL;
    const char *text = path ? read_text(arena, path) : NULL;
    return text ? text : built_in;
}
