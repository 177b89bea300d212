/* Filling templates. */
#include "research/prompt.h"

#include "core/limits.h"
#include "core/status.h"
#include "text/text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void put_question(struct buf *out, const struct prompt_values *values, const char *tag)
{
    buf_printf(out, "<question-%s>\n", tag);
    put_escaped(out, values->question);
    buf_printf(out, "\n</question-%s>", tag);
}

/* ---- places ---- */

enum place { PLACE_QUESTION, PLACE_DEPTH, PLACE_MODEL, PLACE_ROUNDS };

/* The longer spelling first: one contains the other. */
static const struct {
    const char *text;
    enum place place;
} PLACES[] = {
    {"{{query}}", PLACE_QUESTION},      {"{{topic}}", PLACE_QUESTION},
    {"{{depth}}", PLACE_DEPTH},         {"{{model}}", PLACE_MODEL},
    {"{query}", PLACE_QUESTION},        {"{topic}", PLACE_QUESTION},
    {"{depth}", PLACE_DEPTH},           {"{model}", PLACE_MODEL},
    {"{max_iterations}", PLACE_ROUNDS},
};

static void put_value(struct buf *out, enum place place, const struct prompt_values *values,
                      const char *tag)
{
    switch (place) {
    case PLACE_QUESTION:
        put_question(out, values, tag);
        break;
    case PLACE_DEPTH:
        buf_puts(out, values->depth);
        break;
    case PLACE_MODEL:
        put_escaped(out, values->model);
        break;
    case PLACE_ROUNDS:
        buf_printf(out, "%d", values->max_rounds);
        break;
    }
}

/* The place at `at`, or a negative number when there is none. */
static int find_place(const char *at)
{
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        if (strncmp(at, PLACES[i].text, strlen(PLACES[i].text)) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int prompt_fill(struct buf *out, const char *template, const struct prompt_values *values,
                const char *tag)
{
    bool asked = false;
    while (*template) {
        size_t plain = strcspn(template, "{");
        buf_append(out, template, plain);
        template += plain;
        int place = *template ? find_place(template) : -1;
        if (place >= 0) {
            asked = asked || PLACES[place].place == PLACE_QUESTION;
            put_value(out, PLACES[place].place, values, tag);
            template += strlen(PLACES[place].text);
        } else if (*template) {
            buf_putc(out, *template ++);
        }
    }
    if (!asked) {
        buf_puts(out, "\n\n");
        put_question(out, values, tag);
        buf_putc(out, '\n');
    }
    return buf_error(out);
}

/* ---- templates ---- */

/* The whole file as text in the arena; NULL when it is not there, too large, or no text. */
static const char *read_text(struct arena *arena, const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return NULL;
    }
    const char *text = NULL;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
        (size_t)about.st_size <= LIMIT_PROMPT_BYTES) {
        size_t size = (size_t)about.st_size;
        char *content = arena_alloc(arena, size + 1);
        ssize_t got = content ? read(fd, content, size) : -1;
        if (got == (ssize_t)size && text_is_utf8(content, size) && !memchr(content, '\0', size)) {
            content[size] = '\0';
            text = content;
        }
    }
    close(fd);
    return text;
}

const char *prompt_template(struct arena *arena, const char *folder, const char *name,
                            const char *built_in)
{
    const char *path = folder ? arena_printf(arena, "%s/%s.md", folder, name) : NULL;
    const char *text = path ? read_text(arena, path) : NULL;
    return text ? text : built_in;
}
