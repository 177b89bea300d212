/* Colour and progress, by the habits of other programs: no-color.org, and what a terminal says of
 * itself. */
#include "cli/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } wish;

void terminal_set_color(const char *word)
{
    wish = word && strcmp(word, "always") == 0  ? COLOR_ALWAYS
           : word && strcmp(word, "never") == 0 ? COLOR_NEVER
                                                : COLOR_AUTO;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static bool is_asked_for(const char *name)
{
    return is_set(name) && strcmp(getenv(name), "0") != 0;
}

/* A terminal that understands more than letters and line ends. */
static bool is_capable(FILE *file)
{
    const char *kind = getenv("TERM");
    return isatty(fileno(file)) && !(kind && strcmp(kind, "dumb") == 0);
}

/* Whether there is colour on a stream. By itself: on a terminal that is not "dumb", where NO_COLOR
 * is not set; FORCE_COLOR and CLICOLOR_FORCE ask for it wherever the output goes. */
static bool has_color(FILE *file)
{
    if (wish != COLOR_AUTO) {
        return wish == COLOR_ALWAYS;
    }
    if (is_set("NO_COLOR")) {
        return false;
    }
    return is_asked_for("FORCE_COLOR") || is_asked_for("CLICOLOR_FORCE") || is_capable(file);
}

const char *terminal_style(FILE *file, enum terminal_style style)
{
    /* The sixteen colours of every terminal, which follow its theme. */
    static const char *const CODES[STYLE_COUNT] = {
        [STYLE_PLAIN] = "\033[0m",    [STYLE_HEADING] = "\033[1m", [STYLE_FINE] = "\033[32m",
        [STYLE_WARNING] = "\033[33m", [STYLE_WRONG] = "\033[31m",  [STYLE_FAINT] = "\033[2m",
    };
    return has_color(file) ? CODES[style] : "";
}

bool terminal_has_progress(void)
{
    return is_capable(stderr);
}

void terminal_progress(const char *format, ...)
{
    va_list args;
    if (!terminal_has_progress()) {
        return;
    }
    va_start(args, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
}

void terminal_progress_end(void)
{
    if (terminal_has_progress()) {
        fputs("\r\033[K", stderr);
    }
}
