/* `forage --help`, `forage help COMMAND` and `forage COMMAND --help`, from the table of commands.
 */
#include "cli/cli.h"
#include "cli/terminal.h"
#include "core/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PLAIN_WIDTH 96  /* where there is no terminal */
#define MOST_WIDTH  120 /* longer lines are hard to read */
#define LEAST_ROOM  24  /* for what a name means, beside it */

/* A page in the making, and where it goes. */
struct help_page {
    struct buf *out;
    FILE *file;
    size_t width;
};

/* ---- setting text ---- */

static void put_heading(const struct help_page *page, const char *title)
{
    buf_printf(page->out, "\n%s%s%s\n", terminal_style(page->file, STYLE_HEADING), title,
               terminal_style(page->file, STYLE_PLAIN));
}

/* A sentence of its own, after an empty line. */
__attribute__((format(printf, 2, 3))) static void put_sentence(const struct help_page *page,
                                                               const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_putc(page->out, '\n');
    terminal_put_wrapped(page->out, 0, 0, page->width, text);
}

/* A name, and beside it what it means; below it where there is no room. */
static void put_row(const struct help_page *page, size_t width, const char *name,
                    const char *meaning)
{
    bool beside = width + 4 + LEAST_ROOM <= page->width;
    size_t column = beside ? width + 4 : 8;
    if (!beside || strlen(name) > width) {
        buf_printf(page->out, "  %s\n%*s", name, (int)column, "");
    } else {
        buf_printf(page->out, "  %-*s  ", (int)width, name);
    }
    terminal_put_wrapped(page->out, column, column, page->width, meaning);
}

/* ---- parts of a page ---- */

#define NAME_SIZE 64

static const char *option_usage(const struct option *option, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "%s%s%s", option->name, option->value ? " " : "",
             option->value ? option->value : "");
    return out;
}

static void put_options(const struct help_page *page, const char *title,
                        const struct command *command)
{
    char name[NAME_SIZE];
    const struct option *options = command_options(command);
    if (!options->name) {
        return;
    }
    put_heading(page, title);
    for (int i = 0; options[i].name; i++) {
        put_row(page, 26, option_usage(&options[i], name), options[i].help);
    }
}

static void put_parts(const struct help_page *page, const struct command *command)
{
    if (command != &COMMAND_ROOT) {
        put_heading(page, "Commands");
        for (const struct command *part = command->parts; part->name; part++) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "%s%s%s", part->name, part->words ? " " : "",
                     part->words ? part->words : "");
            put_row(page, 26, name, part->summary);
        }
        return;
    }
    for (int group = 0; group < COMMANDS_GROUPS; group++) {
        put_heading(page, COMMAND_GROUP_TITLES[group]);
        for (const struct command *part = command->parts; part->name; part++) {
            if ((int)part->group == group) {
                put_row(page, 11, part->name, part->summary);
            }
        }
    }
}

static void put_examples(const struct help_page *page, const struct command *command)
{
    if (command->examples[0]) {
        put_heading(page, "Examples");
    }
    for (int i = 0; i < COMMAND_MOST_EXAMPLES && command->examples[i]; i++) {
        buf_printf(page->out, "  %s\n", command->examples[i]);
    }
}

static void put_usage(const struct help_page *page, const struct arguments *topic)
{
    struct buf *out = page->out;
    buf_puts(out, "Usage:");
    bool options = false;
    for (int i = 0; i < topic->depth; i++) {
        buf_printf(out, " %s", topic->path[i]->name);
        options = options || (i > 0 && topic->path[i]->options);
    }
    const struct command *command = arguments_command(topic);
    if (command->words) {
        buf_printf(out, " %s", command->words);
    }
    buf_puts(out, options || topic->depth == 1 ? " [OPTION]...\n" : "\n");
}

/* ---- pages ---- */

static void put_command(const struct help_page *page, const struct arguments *topic)
{
    struct buf *out = page->out;
    const struct command *command = arguments_command(topic);
    put_usage(page, topic);
    char first = command->summary[0];
    put_sentence(page, "%c%s.", first >= 'a' && first <= 'z' ? first - 'a' + 'A' : first,
                 command->summary + 1);
    if (command->about) {
        terminal_put_wrapped(out, 0, 0, page->width, command->about);
    }
    if (command->parts) {
        put_parts(page, command);
    }
    for (int depth = topic->depth - 1; depth > 0; depth--) {
        put_options(page, depth == topic->depth - 1 ? "Options" : "Options for all of these",
                    topic->path[depth]);
    }
    put_examples(page, command);
    if (command->parts) {
        put_sentence(page, "`forage help %s COMMAND` explains one of them.", command->name);
    }
}

static void put_program(const struct help_page *page)
{
    struct buf *out = page->out;
    buf_puts(out, "forage -");
    terminal_put_wrapped(out, 0, strlen("forage -"), page->width, COMMAND_ROOT.summary);
    buf_puts(out, "\nUsage: forage COMMAND [OPTION]...\n");
    put_parts(page, &COMMAND_ROOT);
    put_options(page, "Options for every command", &COMMAND_ROOT);
    put_examples(page, &COMMAND_ROOT);
    put_sentence(page, "Exit codes: 0 done, 1 the call or the server failed, 2 wrong arguments or "
                       "settings, 130 ctrl-C.");
    terminal_put_wrapped(out, 0, 0, page->width,
                         "Settings are environment variables; `forage config` lists them. See also "
                         "man forage.");
}

int help_print(FILE *file, const struct arguments *topic)
{
    struct buf text;
    size_t width = terminal_width(file);
    struct help_page page = {&text, file,
                             !width               ? PLAIN_WIDTH
                             : width < MOST_WIDTH ? width
                                                  : MOST_WIDTH};
    buf_init(&text, KIB(64));
    if (topic->depth == 1) {
        put_program(&page);
    } else {
        put_command(&page, topic);
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
        return print_buf(&text, WORDS_OURS);
    }
    struct arguments topic = {.path = {&COMMAND_ROOT}, .depth = 1};
    for (int i = 0; i < arguments->count; i++) {
        const struct command *part =
            topic.depth < COMMAND_DEEPEST
                ? command_part(arguments_command(&topic), arguments->words[i])
                : NULL;
        if (!part) {
            return refuse_command(arguments_command(&topic), arguments->words[i]);
        }
        topic.path[topic.depth++] = part;
    }
    return help_print(stdout, &topic);
}
