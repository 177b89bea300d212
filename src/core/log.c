/* The log: builds a line, redacts it, hands it out whole. */
#include "core/log.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/limits.h"
#include "core/log_ring.h"
#include "core/redact.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static _Atomic int current_level = LOG_LEVEL_INFO;
static atomic_bool private_allowed;
static _Atomic(const char *) line_start = "";

static const struct {
    const char *name;
    const char *label;
} LEVELS[] = {
    [LOG_LEVEL_ERROR] = {"error", "ERROR"},
    [LOG_LEVEL_WARN] = {"warn", "WARN "},
    [LOG_LEVEL_INFO] = {"info", "INFO "},
    [LOG_LEVEL_DEBUG] = {"debug", "DEBUG"},
};

void log_set_level(enum log_level level)
{
    atomic_store(&current_level, (int)level);
}

enum log_level log_level(void)
{
    return (enum log_level)atomic_load(&current_level);
}

void log_allow_private(bool allowed)
{
    atomic_store(&private_allowed, allowed);
}

bool log_takes_private(void)
{
    return atomic_load(&private_allowed) && log_level() >= LOG_LEVEL_DEBUG;
}

int log_level_parse(const char *name)
{
    for (int i = 0; i <= LOG_LEVEL_DEBUG; i++) {
        if (strcmp(name, LEVELS[i].name) == 0) {
            return i;
        }
    }
    return -1;
}

void log_set_line_start(const char *text)
{
    atomic_store(&line_start, text);
}

/* A line stays a line whatever was put into it. */
static void flatten(struct buf *line, size_t from)
{
    for (size_t i = from; i < line->length; i++) {
        unsigned char c = (unsigned char)line->data[i];
        if (c < 0x20 || c == 0x7f) {
            line->data[i] = ' ';
        }
    }
}

static void send_out(const char *line, size_t length)
{
    if (log_ring_is_open()) {
        log_ring_put(line, length);
    } else {
        /* Where nobody can read stderr there is nowhere left to say so. */
        (void)!write_all(STDERR_FILENO, line, length);
    }
}

__attribute__((format(printf, 3, 0))) static void emit(enum log_level level, const char *request_id,
                                                       const char *format, va_list args)
{
    if ((int)level > atomic_load_explicit(&current_level, memory_order_relaxed)) {
        return;
    }
    if (log_ring_is_open() && log_ring_drops()) {
        return;
    }
    char stamp[CLOCK_STAMP_SIZE];
    struct buf line;
    buf_init(&line, KIB(16));
    const char *const words[] = {atomic_load(&line_start),
                                 clock_stamp(stamp),
                                 " ",
                                 LEVELS[level].label,
                                 " ",
                                 request_id ? "req=" : "",
                                 request_id ? request_id : "",
                                 request_id ? " " : ""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        buf_puts(&line, words[i]);
    }
    size_t start = line.length;
    buf_vprintf(&line, format, args);
    if (line.data) {
        flatten(&line, start);
        redact_buf(&line, 0, WORDS_OURS);
        buf_putc(&line, '\n');
        send_out(line.data, line.length);
    }
    buf_done(&line);
}

#define DEFINE_LOG(name, level)                                                                    \
    void name(const char *request_id, const char *format, ...)                                     \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        emit(level, request_id, format, args);                                                     \
        va_end(args);                                                                              \
    }

DEFINE_LOG(log_error, LOG_LEVEL_ERROR)
DEFINE_LOG(log_warn, LOG_LEVEL_WARN)
DEFINE_LOG(log_info, LOG_LEVEL_INFO)
DEFINE_LOG(log_debug, LOG_LEVEL_DEBUG)

void log_private(const char *request_id, const char *format, ...)
{
    va_list args;
    if (!log_takes_private()) {
        return;
    }
    va_start(args, format);
    emit(LOG_LEVEL_DEBUG, request_id, format, args);
    va_end(args);
}

void log_never_wait(void)
{
    if (!log_ring_is_open()) {
        log_ring_open();
    }
}

void log_finish(void)
{
    if (log_ring_is_open()) {
        log_ring_end();
    }
}
