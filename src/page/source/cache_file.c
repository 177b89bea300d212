/* Reading and writing one file of the cache. */
#include "page/source/cache_file.h"

#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "core/write_all.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LINE   "forage-cache 1"
#define MOST_HEADERS 16

/* FNV-1a, 64 bits: it shall notice a torn or damaged file, not an enemy, who cannot write here. */
static uint64_t checksum(uint64_t sum, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        sum = (sum ^ (unsigned char)data[i]) * 0x100000001b3u;
    }
    return sum;
}

static uint64_t checksum_of(const char *head, size_t head_length, const char *body,
                            size_t body_length)
{
    return checksum(checksum(0xcbf29ce484222325u, head, head_length), body, body_length);
}

/* ---- writing ---- */

/* A line break in a value would make lines of its own. */
static bool is_line(const char *text)
{
    return !strpbrk(text, "\r\n");
}

int cache_file_write(int fd, const char *key, const struct cache_entry *entry, uint64_t *size)
{
    struct buf head;
    buf_init(&head, KIB(64));
    if (!is_line(entry->url) || entry->header_count > MOST_HEADERS) {
        return ERR_LIMIT;
    }
    buf_printf(&head, FIRST_LINE "\nkey %s\nurl %s\n", key, entry->url);
    for (size_t i = 0; i < entry->header_count; i++) {
        if (!is_line(entry->headers[i].value)) {
            buf_done(&head);
            return ERR_LIMIT;
        }
        buf_printf(&head, "header %s: %s\n", entry->headers[i].name, entry->headers[i].value);
    }
    buf_printf(&head, "body %zu\n", entry->body_length);
    if (!buf_error(&head)) {
        uint64_t sum = checksum_of(head.data, head.length, entry->body, entry->body_length);
        buf_printf(&head, "sum %016" PRIx64 "\n\n", sum);
    }
    int status = buf_error(&head);
    if (status == OK && head.length + entry->body_length > LIMIT_CACHE_ENTRY_BYTES) {
        status = ERR_LIMIT;
    }
    if (status == OK) {
        status = write_all(fd, head.data, head.length);
    }
    if (status == OK) {
        status = write_all(fd, entry->body, entry->body_length);
    }
    *size = head.length + entry->body_length;
    buf_done(&head);
    return status;
}

/* ---- reading ---- */

struct reading {
    struct cache_entry *entry;
    struct cache_header *headers;
    const char *key;
    size_t size;
    bool keyed;
    bool sized;
};

static char *read_all(int fd, size_t size, struct arena *arena)
{
    char *data = arena_alloc(arena, size + 1);
    size_t length = 0;
    while (data && length < size) {
        ssize_t got = read(fd, data + length, size - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break; /* it is shorter than it was a moment ago, which its checksum will tell */
        }
        length += (size_t)got;
    }
    if (data) {
        memset(data + length, 0, size + 1 - length);
    }
    return data;
}

static int take_key(struct reading *reading, char *value)
{
    reading->keyed = strcmp(value, reading->key) == 0;
    return reading->keyed ? OK : ERR_INVALID;
}

static int take_url(struct reading *reading, char *value)
{
    reading->entry->url = value;
    return OK;
}

static int take_header(struct reading *reading, char *value)
{
    char *colon = strstr(value, ": ");
    if (!colon || reading->entry->header_count == MOST_HEADERS) {
        return ERR_INVALID;
    }
    *colon = '\0';
    reading->headers[reading->entry->header_count++] = (struct cache_header){value, colon + 2};
    return OK;
}

static int take_body(struct reading *reading, char *value)
{
    size_t length = 0;
    for (; *value >= '0' && *value <= '9' && length <= LIMIT_CACHE_ENTRY_BYTES; value++) {
        length = length * 10 + (size_t)(*value - '0');
    }
    reading->sized = *value == '\0' && length < reading->size;
    reading->entry->body_length = length;
    return reading->sized ? OK : ERR_INVALID;
}

static const struct {
    const char *word;
    int (*take)(struct reading *reading, char *value);
} LINES[] = {
    {"key ", take_key},
    {"url ", take_url},
    {"header ", take_header},
    {"body ", take_body},
};

static int take_line(struct reading *reading, char *line)
{
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        size_t length = strlen(LINES[i].word);
        if (strncmp(line, LINES[i].word, length) == 0) {
            return LINES[i].take(reading, line + length);
        }
    }
    return ERR_INVALID;
}

/* The body stands at the end of the file, so its place is known before its size. */
static bool is_whole(const char *file, size_t size)
{
    static const char SUM[] = "\nsum ";
    const char *head_end = memmem(file, size, "\n\n", 2);
    const char *sum =
        head_end ? memmem(file, (size_t)(head_end - file), SUM, sizeof SUM - 1) : NULL;
    if (!sum || head_end - sum != (ptrdiff_t)(sizeof SUM - 1) + 16) {
        return false;
    }
    char expected[17];
    const char *body = head_end + 2;
    uint64_t found =
        checksum_of(file, (size_t)(sum + 1 - file), body, (size_t)(file + size - body));
    for (int i = 15; i >= 0; i--, found >>= 4) {
        expected[i] = "0123456789abcdef"[found & 15];
    }
    expected[16] = '\0';
    return memcmp(sum + sizeof SUM - 1, expected, 16) == 0;
}

int cache_file_read(int fd, size_t size, const char *key, struct arena *arena,
                    struct cache_entry *entry)
{
    char *file = read_all(fd, size, arena);
    struct cache_header *headers = arena_zalloc(arena, MOST_HEADERS * sizeof *headers);
    *entry = (struct cache_entry){.url = NULL, .headers = headers};
    if (!file || !headers) {
        return ERR_NOMEM;
    }
    struct reading reading = {.entry = entry, .headers = headers, .key = key, .size = size};
    size_t first = strlen(FIRST_LINE);
    if (strncmp(file, FIRST_LINE "\n", first + 1) != 0 || !is_whole(file, size)) {
        return ERR_INVALID;
    }
    char *line = file + first + 1;
    while (strncmp(line, "sum ", 4) != 0) {
        char *end = strchr(line, '\n');
        if (!end) {
            return ERR_INVALID;
        }
        *end = '\0';
        if (take_line(&reading, line) != OK) {
            return ERR_INVALID;
        }
        line = end + 1;
    }
    const char *body = line + 4 + 16 + 2;
    entry->body = body;
    bool fits = reading.sized && entry->body_length == (size_t)(file + size - body);
    return reading.keyed && entry->url && fits ? OK : ERR_INVALID;
}
