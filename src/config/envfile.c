/* The parser of the configuration file, and the reading of it. */
#include "config/envfile.h"

#include "core/limits.h"
#include "core/status.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct envfile_parser {
    struct arena *arena;
    struct envfile *file;
    size_t capacity;      /* of the entries */
    const char *at, *end; /* what is left of the current line */
    size_t line;
    const char *otherwise; /* of the current line */
    bool joined;           /* systemd takes the next line for a part of the comment before it */
    struct text_out problem;
};

static int refuse(struct envfile_parser *parser, int status, const char *what)
{
    text_putf(&parser->problem, "line %zu: %s", parser->line, what);
    return status;
}

/* ---- what systemd reads otherwise ---- */

static const char COMMENT_BEHIND[] = "the comment behind the value becomes a part of it";
static const char EXPORT_BEFORE[] = "the line is left out, because of its \"export\"";
static const char BACKSLASH[] = "the \\ disappears from the value, or joins lines";
static const char ESCAPE[] = "\\n and \\t in the value stay as they are written";
static const char MARK_BEFORE[] = "the line is left out, because of the byte order mark";
static const char JOINED[] = "the line belongs to the comment above it, which ends in \\";

/* ---- the pieces of a line ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_key_char(char c, bool first)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return letter || (!first && c >= '0' && c <= '9');
}

static void skip_blanks(struct envfile_parser *parser)
{
    while (parser->at < parser->end && is_blank(*parser->at)) {
        parser->at++;
    }
}

/* "export" and at least one blank. */
static void skip_export(struct envfile_parser *parser)
{
    static const char WORD[] = "export";
    const size_t length = sizeof WORD - 1;
    if ((size_t)(parser->end - parser->at) > length && memcmp(parser->at, WORD, length) == 0 &&
        is_blank(parser->at[length])) {
        parser->at += length;
        parser->otherwise = EXPORT_BEFORE;
        skip_blanks(parser);
    }
}

/* Whether nothing but a comment is left. */
static bool is_over(struct envfile_parser *parser)
{
    skip_blanks(parser);
    return parser->at == parser->end || *parser->at == '#';
}

/* The same, behind a value. */
static int end_quoted(struct envfile_parser *parser)
{
    if (!is_over(parser)) {
        return refuse(parser, ERR_INVALID, "something follows the closing quote");
    }
    parser->otherwise = parser->at < parser->end ? COMMENT_BEHIND : parser->otherwise;
    return OK;
}

static int read_key(struct envfile_parser *parser, const char **key)
{
    const char *start = parser->at;
    while (parser->at < parser->end && is_key_char(*parser->at, parser->at == start)) {
        parser->at++;
    }
    size_t length = (size_t)(parser->at - start);
    skip_blanks(parser);
    if (length == 0 || parser->at == parser->end || *parser->at != '=') {
        return refuse(parser, ERR_INVALID, "expected KEY=value, or a comment that begins with #");
    }
    if (length > ENVFILE_LONGEST_KEY) {
        return refuse(parser, ERR_LIMIT, "the name is longer than 128 characters");
    }
    parser->at++;
    skip_blanks(parser);
    *key = arena_strndup(parser->arena, start, length);
    return *key ? OK : refuse(parser, ERR_NOMEM, "out of memory");
}

/* The bytes of a value in single quotes, or without any; both stand in the line as they are. */
static int read_single_quoted(struct envfile_parser *parser, const char **value, size_t *length)
{
    *value = ++parser->at;
    const char *close = memchr(parser->at, '\'', (size_t)(parser->end - parser->at));
    if (!close) {
        return refuse(parser, ERR_INVALID, "the value is not closed with ' on its line");
    }
    *length = (size_t)(close - *value);
    parser->at = close + 1;
    return end_quoted(parser);
}

static void read_plain(struct envfile_parser *parser, const char **value, size_t *length)
{
    *value = parser->at;
    const char *last = parser->at;
    for (; parser->at < parser->end; parser->at++) {
        bool after_blank = parser->at > *value && is_blank(parser->at[-1]);
        if (*parser->at == '#' && (after_blank || parser->at == *value)) {
            parser->otherwise = COMMENT_BEHIND;
            break;
        }
        if (*parser->at == '\\') {
            parser->otherwise = BACKSLASH;
        }
        if (!is_blank(*parser->at)) {
            last = parser->at + 1;
        }
    }
    *length = (size_t)(last - *value);
}

/* Escapes only make a value shorter, so the line's length is room enough. */
static int read_double_quoted(struct envfile_parser *parser, const char **value, size_t *length)
{
    static const char NAMES[] = "nt\"\\$";
    static const char MEANINGS[] = "\n\t\"\\$";
    char *out = arena_alloc(parser->arena, (size_t)(parser->end - parser->at) + 1);
    if (!out) {
        return refuse(parser, ERR_NOMEM, "out of memory");
    }
    *value = out;
    *length = 0;
    for (parser->at++; parser->at < parser->end && *parser->at != '"'; parser->at++) {
        char c = *parser->at;
        if (c == '\\') {
            parser->at++;
            const char *name = parser->at < parser->end ? strchr(NAMES, *parser->at) : NULL;
            if (!name) {
                return refuse(parser, ERR_INVALID,
                              "in double quotes a \\ goes with n, t, \", \\ or $ only");
            }
            c = MEANINGS[name - NAMES];
            parser->otherwise = c == '\n' || c == '\t' ? ESCAPE : parser->otherwise;
        }
        out[(*length)++] = c;
    }
    if (parser->at == parser->end) {
        return refuse(parser, ERR_INVALID, "the value is not closed with \" on its line");
    }
    parser->at++;
    return end_quoted(parser);
}

static int read_value(struct envfile_parser *parser, const char **value)
{
    const char *start = NULL;
    size_t length = 0;
    char quote = parser->at < parser->end ? *parser->at : '\0';
    int status = OK;
    if (quote == '\'') {
        status = read_single_quoted(parser, &start, &length);
    } else if (quote == '"') {
        status = read_double_quoted(parser, &start, &length);
    } else {
        read_plain(parser, &start, &length);
    }
    if (status != OK) {
        return status;
    }
    if (length > LIMIT_CONFIG_VALUE_BYTES) {
        return refuse(parser, ERR_LIMIT, "the value is longer than 32 KiB");
    }
    *value = arena_strndup(parser->arena, start, length);
    return *value ? OK : refuse(parser, ERR_NOMEM, "out of memory");
}

/* ---- lines ---- */

static int add_entry(struct envfile_parser *parser, const char *key, const char *value)
{
    struct envfile *file = parser->file;
    if (file->count == ENVFILE_MOST_ENTRIES) {
        return refuse(parser, ERR_LIMIT, "more than 1024 settings");
    }
    if (file->count == parser->capacity) {
        size_t capacity = parser->capacity ? parser->capacity * 2 : 16;
        struct envfile_entry *entries =
            arena_realloc(parser->arena, file->entries, parser->capacity * sizeof *entries,
                          capacity * sizeof *entries);
        if (!entries) {
            return refuse(parser, ERR_NOMEM, "out of memory");
        }
        file->entries = entries;
        parser->capacity = capacity;
    }
    file->entries[file->count++] =
        (struct envfile_entry){key, value, parser->line, parser->otherwise};
    return OK;
}

static int check_bytes(struct envfile_parser *parser)
{
    if (!text_is_utf8(parser->at, (size_t)(parser->end - parser->at))) {
        return refuse(parser, ERR_INVALID, "the text is not UTF-8");
    }
    for (const char *c = parser->at; c < parser->end; c++) {
        if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f) {
            return refuse(parser, ERR_INVALID, "there is a control character");
        }
    }
    return OK;
}

/* Whether a \ stands before the end of the line, and none before that. */
static bool is_escaped_end(const struct envfile_parser *parser)
{
    size_t count = 0;
    while (parser->end - parser->at > (ptrdiff_t)count &&
           parser->end[-1 - (ptrdiff_t)count] == '\\') {
        count++;
    }
    return count % 2 == 1;
}

static int read_line(struct envfile_parser *parser)
{
    const char *key = NULL;
    const char *value = NULL;
    int status = check_bytes(parser);
    if (status == OK && is_over(parser)) {
        /* A blank line ends what was joined, another comment may go on with it. */
        parser->joined = (parser->joined || parser->at < parser->end) && is_escaped_end(parser);
        return OK;
    }
    if (status != OK) {
        return status;
    }
    parser->otherwise = parser->joined ? JOINED : parser->otherwise;
    parser->joined = parser->joined && is_escaped_end(parser);
    skip_export(parser);
    status = read_key(parser, &key);
    if (status == OK) {
        status = read_value(parser, &value);
    }
    return status == OK ? add_entry(parser, key, value) : status;
}

int envfile_parse(struct arena *arena, const char *text, size_t length, struct envfile *file,
                  char *problem, size_t size)
{
    static const char MARK[] = "\xEF\xBB\xBF";
    const size_t mark_length = sizeof MARK - 1;
    struct envfile_parser parser = {.arena = arena, .file = file};
    *file = (struct envfile){0};
    text_start(&parser.problem, problem, size);
    if (length > LIMIT_CONFIG_FILE_BYTES) {
        text_put(&parser.problem, "the file is larger than 256 KiB");
        return ERR_LIMIT;
    }
    const char *end = text + length;
    if (length >= mark_length && memcmp(text, MARK, mark_length) == 0) {
        text += mark_length;
        parser.otherwise = MARK_BEFORE;
    }
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        line_end = line_end ? line_end : end;
        parser.line++;
        parser.at = text;
        parser.end = line_end > text && line_end[-1] == '\r' ? line_end - 1 : line_end;
        int status = read_line(&parser);
        if (status != OK) {
            return status;
        }
        parser.otherwise = NULL;
        text = line_end < end ? line_end + 1 : end;
    }
    return OK;
}

/* ---- the file ---- */

/* Reads to the end, or to one byte more than is allowed, so that the parser notices. */
static int read_all(int fd, char *data, size_t size, size_t *length)
{
    *length = 0;
    while (*length < size) {
        ssize_t got = read(fd, data + *length, size - *length);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            return ERR_IO;
        }
        *length += got > 0 ? (size_t)got : 0;
    }
    return OK;
}

int envfile_read(struct arena *arena, const char *path, struct envfile *file, unsigned *mode,
                 char *problem, size_t size)
{
    struct text_out out;
    text_start(&out, problem, size);
    *file = (struct envfile){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        text_put(&out, strerror(errno));
        return errno == ENOENT || errno == ENOTDIR ? ERR_NOTFOUND : ERR_IO;
    }
    /* Most files say how large they are; a pipe does not. */
    struct stat about;
    size_t room = LIMIT_CONFIG_FILE_BYTES + 1;
    bool known = fstat(fd, &about) == 0;
    if (known && about.st_size > 0 && about.st_size < (off_t)room) {
        room = (size_t)about.st_size + 1;
    }
    *mode = known ? (unsigned)about.st_mode & 07777 : 0;
    size_t length = 0;
    char *data = arena_alloc(arena, room);
    int status = data ? read_all(fd, data, room, &length) : ERR_NOMEM;
    if (status != OK) {
        text_put(&out, status == ERR_IO ? strerror(errno) : "out of memory");
    }
    close(fd);
    return status == OK ? envfile_parse(arena, data, length, file, problem, size) : status;
}
