/* `forage --help`, `forage help COMMAND` and `forage COMMAND --help`, from the table of commands.
 */
#include "cli/cli.h"
#include "cli/terminal.h"
#include "core/limits.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 96

/* ---- setting text ---- */

/* Sentences, broken between words, each line set in; the first begins at `column`. */
static void put_wrapped(struct buf *out, size_t indent, size_t column, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > indent && column + 1 + length > WIDTH) {
            buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            buf_putc(out, ' ');
            column++;
        }
        buf_append(out, text, length);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    buf_putc(out, '\n');
}

static void put_heading(struct buf *out, FILE *file, const char *title)
{
    buf_printf(out, "\n%s%s%s\n", terminal_style(file, STYLE_HEADING), title,
               terminal_style(file, STYLE_PLAIN));
}

/* A name, and beside it what it means. */
static void put_row(struct buf *out, size_t width, const char *name, const char *meaning)
{
    size_t column = width + 4;
    if (strlen(name) > width) {
        buf_printf(out, "  %s\n%*s", name, (int)column, "");
    } else {
        buf_printf(out, "  %-*s  ", (int)width, name);
    }
    put_wrapped(out, column, column, meaning);
}

/* ---- parts of a page ---- */

#define NAME_SIZE 64

static const char *option_usage(const struct option *option, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "%s%s%s", option->name, option->value ? " " : "",
             option->value ? option->value : "");
    return out;
}

static void put_options(struct buf *out, FILE *file, const char *title,
                        const struct command *command)
{
    char name[NAME_SIZE];
    if (!command->options[0].name) {
        return;
    }
    put_heading(out, file, title);
    for (int i = 0; command->options[i].name; i++) {
        put_row(out, 26, option_usage(&command->options[i], name), command->options[i].help);
    }
}

static void put_parts(struct buf *out, FILE *file, const struct command *command)
{
    if (command != &COMMAND_ROOT) {
        put_heading(out, file, "Commands");
        for (const struct command *part = command->parts; part->name; part++) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "%s%s%s", part->name, part->words ? " " : "",
                     part->words ? part->words : "");
            put_row(out, 26, name, part->summary);
        }
        return;
    }
    for (int group = 0; group < COMMANDS_GROUPS; group++) {
        put_heading(out, file, COMMAND_GROUP_TITLES[group]);
        for (const struct command *part = command->parts; part->name; part++) {
            if ((int)part->group == group) {
                put_row(out, 11, part->name, part->summary);
            }
        }
    }
}

static void put_examples(struct buf *out, FILE *file, const struct command *command)
{
    if (command->examples[0]) {
        put_heading(out, file, "Examples");
    }
    for (int i = 0; i < COMMAND_MOST_EXAMPLES && command->examples[i]; i++) {
        buf_printf(out, "  %s\n", command->examples[i]);
    }
}

static void put_usage(struct buf *out, const struct arguments *topic)
{
    buf_puts(out, "Usage:");
    bool options = false;
    for (int i = 0; i < topic->depth; i++) {
        buf_printf(out, " %s", topic->path[i]->name);
        options = options || (i > 0 && topic->path[i]->options[0].name);
    }
    const struct command *command = arguments_command(topic);
    if (command->words) {
        buf_printf(out, " %s", command->words);
    }
    buf_puts(out, options || topic->depth == 1 ? " [OPTION]...\n" : "\n");
}

/* ---- pages ---- */

static void put_command(struct buf *out, FILE *file, const struct arguments *topic)
{
    const struct command *command = arguments_command(topic);
    put_usage(out, topic);
    char first = command->summary[0];
    buf_printf(out, "\n%c%s.\n", first >= 'a' && first <= 'z' ? first - 'a' + 'A' : first,
               command->summary + 1);
    if (command->about) {
        put_wrapped(out, 0, 0, command->about);
    }
    if (command->parts) {
        put_parts(out, file, command);
    }
    for (int depth = topic->depth - 1; depth > 0; depth--) {
        put_options(out, file, depth == topic->depth - 1 ? "Options" : "Options for all of these",
                    topic->path[depth]);
    }
    put_examples(out, file, command);
    if (command->parts) {
        buf_printf(out, "\n`forage help %s COMMAND` explains one of them.\n", command->name);
    }
}

static void put_program(struct buf *out, FILE *file)
{
    buf_printf(out, "forage - %s\n\nUsage: forage COMMAND [OPTION]...\n", COMMAND_ROOT.summary);
    put_parts(out, file, &COMMAND_ROOT);
    put_options(out, file, "Options for every command", &COMMAND_ROOT);
    put_examples(out, file, &COMMAND_ROOT);
    buf_puts(out,
             "\nExit codes: 0 done, 1 the call or the server failed, 2 wrong arguments or "
             "settings.\nSettings are environment variables; `forage config` lists them. See also "
             "man forage.\n");
}

int help_print(FILE *file, const struct arguments *topic)
{
    struct buf text;
    buf_init(&text, KIB(64));
    if (topic->depth == 1) {
        put_program(&text, file);
    } else {
        put_command(&text, file, topic);
    }
    bool written = buf_error(&text) == OK && fputs(text.data, file) >= 0 && fflush(file) == 0;
    buf_done(&text);
    return written ? EXIT_OK : EXIT_FAILED;
}

int command_help(const struct arguments *arguments)
{
    if (option_given(arguments, "--man")) {
        struct buf text;
        buf_init(&text, KIB(256));
        manual_write(&text);
        return print_buf(&text);
    }
    struct arguments topic = {.path = {&COMMAND_ROOT}, .depth = 1};
    for (int i = 0; i < arguments->count; i++) {
        const struct command *part =
            topic.depth < COMMAND_DEEPEST
                ? command_part(arguments_command(&topic), arguments->words[i])
                : NULL;
        if (!part) {
            return usage_error("there is no command \"%s\"", arguments->words[i]);
        }
        topic.path[topic.depth++] = part;
    }
    return help_print(stdout, &topic);
}
