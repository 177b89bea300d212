/* The manual page: what the table says in the language of mdoc, between a head and a tail that no
 * table knows. */
#include "cli/cli.h"
#include "text/roff.h"

#include <string.h>

static const char HEAD[] = ".\\\" Made by `forage help --man`; change src/cli/commands.c instead.\n"
                           ".Dd November 15, 2026\n"
                           ".Dt FORAGE 1\n"
                           ".Os\n"
                           ".Sh NAME\n"
                           ".Nm forage\n"
                           ".Nd ";

static const char TAIL[] =
    ".Sh OTHER NAMES\n"
    "Called by another name it behaves like the program of that name:\n"
    ".Nm forage-mcp\n"
    "without arguments is\n"
    ".Nm forage Cm mcp ,\n"
    "and with arguments\n"
    ".Nm forage ;\n"
    ".Nm gemini-search-mcp\n"
    "is\n"
    ".Cm mcp ,\n"
    ".Nm gemini-search-mcp-http\n"
    "is\n"
    ".Cm serve ,\n"
    "and\n"
    ".Nm kindly-web-search-mcp-server Cm start-mcp-server Fl -context Ar client\n"
    "is\n"
    ".Cm mcp\n"
    "for that client.\n"
    ".Sh ENVIRONMENT\n"
    "Settings are environment variables, or lines of a file:\n"
    ".Xr forage.env 5 .\n"
    ".Pp\n"
    "Colour appears on a terminal only, and not where\n"
    ".Ev NO_COLOR\n"
    "is set or\n"
    ".Ev TERM\n"
    "is dumb;\n"
    ".Ev FORCE_COLOR\n"
    "and\n"
    ".Ev CLICOLOR_FORCE\n"
    "ask for it wherever the output goes, and\n"
    ".Fl -color\n"
    "wins over all of them.\n"
    ".Sh FILES\n"
    ".Bl -tag -width Ds\n"
    ".It Pa ~/.config/forage/forage.env\n"
    "Settings as KEY=value lines; the environment wins over it.\n"
    ".It Pa ~/.config/gemini-search-mcp\n"
    "Where the research worker runs, with its settings; made on first run and never overwritten.\n"
    ".It Pa ~/.config/forage/prompts\n"
    "Prompts of your own for research:\n"
    ".Pa search-prompt.md\n"
    "and\n"
    ".Pa research-prompt.md .\n"
    ".It Pa ~/.local/share/forage\n"
    "Memories, usage and history.\n"
    ".It Pa ~/.cache/forage\n"
    "Pages that were read lately.\n"
    ".El\n"
    ".Sh EXIT STATUS\n"
    "0 when all went well; 1 when the call failed, the server could not start, or\n"
    ".Cm doctor\n"
    "found something broken; 2 for wrong arguments or settings; 130 after ctrl-C. A command whose\n"
    "output nobody reads any more ends silently by SIGPIPE.\n";

/* ---- parts ---- */

/* "a|b" has blanks around its bars, where a line may break. */
static void put_value(struct buf *out, const char *value)
{
    buf_puts(out, " Ar ");
    for (; *value; value++) {
        if (*value == '|') {
            buf_puts(out, " | ");
        } else {
            buf_putc(out, *value);
        }
    }
}

static void put_words(struct buf *out, const char *words)
{
    bool choice = option_is_choice(words) && !strchr(words, '[');
    buf_puts(out, choice ? " Cm " : " Ar ");
    roff_put(out, words);
}

/* "forage memory add [TEXT]... [--key KEY]", as an item of a list or in the synopsis. */
static void put_line(struct buf *out, const char *above, const struct command *command)
{
    buf_printf(out, "Cm %s%s%s", above, *above ? " " : "", command->name);
    if (command->words && !command->parts) {
        put_words(out, command->words);
    }
    buf_putc(out, '\n');
}

static void put_sentence(struct buf *out, const char *summary)
{
    char first = summary[0];
    char begin[] = {first >= 'a' && first <= 'z' ? (char)(first - 'a' + 'A') : first, '\0'};
    roff_put(out, begin);
    roff_put(out, summary + 1);
    buf_puts(out, ".\n");
}

static void put_options(struct buf *out, const struct command *command)
{
    const struct option *options = command_options(command);
    if (!options->name) {
        return;
    }
    buf_puts(out, ".Bl -tag -width Ds\n");
    for (int i = 0; options[i].name; i++) {
        const struct option *option = &options[i];
        buf_printf(out, ".It Fl %s", option->name + 1);
        if (option->value) {
            put_value(out, option->value);
        }
        buf_putc(out, '\n');
        put_sentence(out, option->help);
    }
    buf_puts(out, ".El\n");
}

static void put_command(struct buf *out, const char *above, const struct command *command)
{
    buf_puts(out, ".It ");
    put_line(out, above, command);
    put_sentence(out, command->summary);
    if (command->about) {
        roff_put(out, command->about);
        buf_putc(out, '\n');
    }
    put_options(out, command);
    if (command->parts) {
        buf_puts(out, ".Bl -tag -width Ds\n");
        for (const struct command *part = command->parts; part->name; part++) {
            put_command(out, command->name, part);
        }
        buf_puts(out, ".El\n");
    }
}

/* ---- the page ---- */

static void put_synopsis(struct buf *out)
{
    buf_puts(out, ".Sh SYNOPSIS\n");
    for (const struct command *command = COMMAND_ROOT.parts; command->name; command++) {
        buf_puts(out, ".Nm\n.");
        put_line(out, "", command);
        if (command->parts) {
            buf_puts(out, ".Ar command\n");
        }
        if (command->options || command->parts) {
            buf_puts(out, ".Op Ar option ...\n");
        }
    }
}

static void put_examples(struct buf *out, const struct command *command)
{
    for (int i = 0; i < COMMAND_MOST_EXAMPLES && command->examples[i]; i++) {
        buf_puts(out, ".Dl ");
        roff_put(out, command->examples[i]);
        buf_putc(out, '\n');
    }
    for (const struct command *part = command->parts; part && part->name; part++) {
        if (command != &COMMAND_ROOT || part->examples[0] || part->parts) {
            put_examples(out, part);
        }
    }
}

void manual_write(struct buf *out)
{
    buf_puts(out, HEAD);
    roff_put(out, COMMAND_ROOT.summary);
    buf_putc(out, '\n');
    put_synopsis(out);
    buf_puts(out, ".Sh DESCRIPTION\n.Nm\ngives AI agents their search tools.\n");
    for (int group = 0; group < COMMANDS_GROUPS; group++) {
        buf_printf(out, ".Ss %s\n.Bl -tag -width Ds\n", COMMAND_GROUP_TITLES[group]);
        for (const struct command *command = COMMAND_ROOT.parts; command->name; command++) {
            if ((int)command->group == group) {
                put_command(out, "", command);
            }
        }
        buf_puts(out, ".El\n");
    }
    buf_puts(out, ".Ss Options for every command\n");
    put_options(out, &COMMAND_ROOT);
    buf_puts(out, TAIL);
    buf_puts(out, ".Sh EXAMPLES\n");
    put_examples(out, &COMMAND_ROOT);
    buf_puts(out, ".Sh SEE ALSO\n.Xr forage.env 5\n");
}
