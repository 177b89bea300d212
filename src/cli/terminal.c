/* Colour, width and progress, by the habits of other programs: no-color.org, COLUMNS, and what a
 * terminal says of itself. */
#include "cli/terminal.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/redact.h"
#include "text/columns.h"
#include "text/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LEAST_WIDTH    20
#define MOST_WIDTH     10000
#define LEAST_SECONDS  2          /* before the time is told */
#define TERMINAL_CLEAR "\r\033[K" /* back to the beginning of the line, and nothing in it */

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

/* ---- width ---- */

size_t terminal_width(FILE *file)
{
    struct winsize size = {0};
    if (!isatty(fileno(file))) {
        return 0;
    }
    long columns = is_set("COLUMNS") ? strtol(getenv("COLUMNS"), NULL, 10) : 0;
    if (columns <= 0 && ioctl(fileno(file), TIOCGWINSZ, &size) == 0) {
        columns = size.ws_col; /* 0 where nobody told the terminal its size */
    }
    return columns <= 0            ? 0
           : columns < LEAST_WIDTH ? LEAST_WIDTH
           : columns > MOST_WIDTH  ? MOST_WIDTH
                                   : (size_t)columns;
}

size_t terminal_room(FILE *file, size_t used)
{
    size_t width = terminal_width(file);
    return !width ? 0 : used + LEAST_WIDTH > width ? LEAST_WIDTH : width - used;
}

/* What could move the cursor. */
static bool is_control(uint32_t letter)
{
    return letter < ' ' || (letter >= 0x7F && letter < 0xA0);
}

/* What turns the direction of all that follows it. */
static bool is_turn(uint32_t letter)
{
    return (letter >= 0x202A && letter <= 0x202E) || (letter >= 0x2066 && letter <= 0x2069);
}

void terminal_put(struct buf *out, const char *text, size_t length, size_t room)
{
    bool cut = room && text_columns(text, length) > room;
    const char *end = text + (cut ? text_columns_prefix(text, length, room - 1) : length);
    while (text < end) {
        const char *from = text;
        uint32_t letter = text_next(&text, end);
        if (is_control(letter)) {
            buf_putc(out, ' ');
        } else if (!is_turn(letter)) {
            buf_append(out, from, (size_t)(text - from));
        }
    }
    buf_puts(out, cut ? "\u2026" : "");
}

void terminal_put_wrapped(struct buf *out, size_t indent, size_t column, size_t width,
                          const char *text)
{
    static const char BLANKS[] = " \t\r\n";
    text += strspn(text, BLANKS);
    while (*text) {
        size_t length = strcspn(text, BLANKS);
        size_t columns = text_columns(text, length);
        if (width && column > indent && column + 1 + columns > width) {
            buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            buf_putc(out, ' ');
            column++;
        }
        terminal_put(out, text, length, 0);
        column += columns;
        text += length;
        text += strspn(text, BLANKS);
    }
    buf_putc(out, '\n');
}

/* ---- asking ---- */

bool terminal_can_ask(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

bool terminal_ask(const char *question, ...)
{
    char answer[16];
    va_list args;
    va_start(args, question);
    vprintf(question, args);
    va_end(args);
    fflush(stdout);
    if (!fgets(answer, sizeof answer, stdin)) {
        return false;
    }
    answer[strcspn(answer, "\r\n")] = '\0';
    return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

/* ---- progress ---- */

bool terminal_has_progress(void)
{
    return is_capable(stderr);
}

/* The line that is shown. A terminal is one for the whole process, and so is its last line. */
static struct {
    pthread_mutex_t lock;
    char text[512]; /* "": none */
    int64_t since_ms;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Writes the line with one write, so that lines of the log come before or after it; those begin
 * with TERMINAL_CLEAR too. */
static void draw(void)
{
    struct buf out;
    size_t room = terminal_room(stderr, 1); /* a full line would leave the cursor in the next one */
    char time[32] = "";
    int64_t seconds = (clock_now_ms() - progress.since_ms) / 1000;
    buf_init(&out, KIB(4));
    buf_puts(&out, TERMINAL_CLEAR);
    if (seconds >= LEAST_SECONDS) {
        snprintf(time, sizeof time, " (%lld s)", (long long)seconds);
    }
    size_t length = strlen(progress.text);
    terminal_put(&out, progress.text, length, room > strlen(time) ? room - strlen(time) : room);
    buf_puts(&out, time);
    if (buf_error(&out) == OK) {
        (void)!write_all(STDERR_FILENO, out.data, out.length);
    }
    buf_done(&out);
}

void terminal_progress(const char *format, ...)
{
    va_list args;
    struct buf line;
    if (!terminal_has_progress()) {
        return;
    }
    buf_init(&line, KIB(16));
    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    redact_buf(&line, 0, WORDS_OURS);
    pthread_mutex_lock(&progress.lock);
    if (!*progress.text) {
        progress.since_ms = clock_now_ms();
        log_set_line_start(TERMINAL_CLEAR);
    }
    snprintf(progress.text, sizeof progress.text, "%s", line.data ? line.data : "...");
    draw();
    pthread_mutex_unlock(&progress.lock);
    buf_done(&line);
}

void terminal_progress_tick(void)
{
    pthread_mutex_lock(&progress.lock);
    if (*progress.text) {
        draw();
    }
    pthread_mutex_unlock(&progress.lock);
}

void terminal_progress_end(void)
{
    pthread_mutex_lock(&progress.lock);
    if (*progress.text) {
        (void)!write_all(STDERR_FILENO, TERMINAL_CLEAR, strlen(TERMINAL_CLEAR));
        *progress.text = '\0';
    }
    log_set_line_start("");
    pthread_mutex_unlock(&progress.lock);
}
