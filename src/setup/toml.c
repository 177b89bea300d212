/* Edits one table of a TOML document. */
#include "setup/toml.h"

#include "core/status.h"
#include "setup/toml_scan.h"
#include "text/text.h"

#include <string.h>

#define PATH_PARTS 2

/* What a walk through the document has seen. */
struct toml_walk {
    struct toml_scan scan;
    struct toml_statement statement;
    struct toml_statement header; /* of the table that the statement is in */
    bool has_header;
    const char *const *path;
};

static bool part_is(const struct toml_walk *walk, const struct toml_statement *statement,
                    size_t index, const char *name)
{
    return index < statement->count && toml_part_is(walk->scan.text, statement->parts[index], name);
}

/* How many names of the path the header begins with. */
static size_t header_depth(const struct toml_walk *walk, const struct toml_statement *header)
{
    size_t depth = 0;
    while (depth < PATH_PARTS && part_is(walk, header, depth, walk->path[depth])) {
        depth++;
    }
    return depth;
}

static bool is_table(const struct toml_walk *walk, const struct toml_statement *header)
{
    return header_depth(walk, header) == PATH_PARTS && header->count == PATH_PARTS;
}

/* Whether the statement, a pair, is directly in the table. */
static bool is_in_table(const struct toml_walk *walk)
{
    return walk->has_header && is_table(walk, &walk->header);
}

static int refuse(struct toml_walk *walk, size_t offset, const char *how)
{
    document_wrong(walk->scan.problem, walk->scan.text, walk->scan.length, offset,
                   "%s.%s cannot be edited here: %s is written as %s", walk->path[0], walk->path[1],
                   walk->path[0], how);
    return ERR_UNSUPPORTED;
}

/* Refuses what would have to be rewritten: another writer than ours has laid it out. */
static int check_statement(struct toml_walk *walk)
{
    const struct toml_statement *statement = &walk->statement;
    size_t offset = statement->parts[0].start;
    if (statement->kind == TOML_TABLES) {
        bool above = header_depth(walk, statement) >= statement->count ||
                     header_depth(walk, statement) == PATH_PARTS;
        return above ? refuse(walk, offset, "an array of tables") : OK;
    }
    if (statement->kind == TOML_TABLE) {
        return OK;
    }
    if (!walk->has_header) {
        bool ours = part_is(walk, statement, 0, walk->path[0]);
        return !ours ? OK
                     : refuse(walk, offset, statement->count == 1 ? "one value" : "dotted keys");
    }
    bool in_servers = walk->header.count == 1 && header_depth(walk, &walk->header) == 1;
    return in_servers && part_is(walk, statement, 0, walk->path[1])
               ? refuse(walk, offset, "an inline table or dotted keys")
               : OK;
}

static int start_walk(struct toml_walk *walk, const char *text, size_t length,
                      const char *const *path, struct document_problem *problem)
{
    *walk = (struct toml_walk){.path = path};
    toml_scan_start(&walk->scan, text, length, problem);
    return document_check(text, length, problem);
}

/* The next statement; `header` is that of its table, or the statement itself. */
static int next(struct toml_walk *walk)
{
    int status = toml_scan_next(&walk->scan, &walk->statement);
    if (status == OK && walk->statement.kind != TOML_VALUE) {
        walk->header = walk->statement;
        walk->has_header = true;
    }
    return status == OK ? check_statement(walk) : status;
}

/* ---- finding ---- */

static int find_table(const char *text, size_t length, const char *const *path,
                      struct document_span *table, struct document_problem *problem)
{
    struct toml_walk walk;
    bool found = false;
    int status = start_walk(&walk, text, length, path, problem);
    while (status == OK && (status = next(&walk)) == OK) {
        bool is_header = walk.statement.kind != TOML_VALUE;
        if (is_header && is_table(&walk, &walk.statement)) {
            if (found) {
                return document_wrong(problem, text, length, walk.statement.start,
                                      "%s.%s is there more than once", path[0], path[1]);
            }
            found = true;
            table->start = walk.statement.start;
            table->end = walk.statement.end;
        } else if (!is_header && is_in_table(&walk)) {
            table->end = walk.statement.end;
        }
    }
    return status == ERR_NOTFOUND && found ? OK : status;
}

/* The statement that sets the key of the table which the path names last. */
static int find_key(const char *text, size_t length, const char *const *path,
                    struct toml_statement *pair, struct document_problem *problem)
{
    struct toml_walk walk;
    bool found = false;
    int status = start_walk(&walk, text, length, path, problem);
    while (status == OK && (status = next(&walk)) == OK) {
        if (walk.statement.kind == TOML_VALUE && is_in_table(&walk) && walk.statement.count == 1 &&
            part_is(&walk, &walk.statement, 0, path[PATH_PARTS])) {
            if (found) {
                return document_wrong(problem, text, length, walk.statement.start,
                                      "%s is there more than once", path[PATH_PARTS]);
            }
            found = true;
            *pair = walk.statement;
        }
    }
    return status == ERR_NOTFOUND && found ? OK : status;
}

/* The same; ERR_UNSUPPORTED when the key has a table or dotted keys of its own, beside which it
 * must not be set. */
static int find_settable_key(const char *text, size_t length, const char *const *path,
                             struct toml_statement *pair, struct document_problem *problem)
{
    struct toml_walk walk;
    int found = find_key(text, length, path, pair, problem);
    int status = found == ERR_NOTFOUND ? start_walk(&walk, text, length, path, problem) : found;
    while (found == ERR_NOTFOUND && status == OK && (status = next(&walk)) == OK) {
        const struct toml_statement *statement = &walk.statement;
        bool below = statement->kind != TOML_VALUE &&
                     header_depth(&walk, statement) == PATH_PARTS &&
                     part_is(&walk, statement, PATH_PARTS, path[PATH_PARTS]);
        bool dotted = statement->kind == TOML_VALUE && is_in_table(&walk) && statement->count > 1 &&
                      part_is(&walk, statement, 0, path[PATH_PARTS]);
        if (below || dotted) {
            document_wrong(problem, text, length, statement->start,
                           "%s.%s.%s has a table or dotted keys of its own", path[0], path[1],
                           path[PATH_PARTS]);
            return ERR_UNSUPPORTED;
        }
    }
    return status;
}

int toml_get(const char *text, size_t length, const char *const *path, size_t depth,
             struct document_span *value, struct document_problem *problem)
{
    struct toml_statement pair;
    if (depth == PATH_PARTS) {
        return find_table(text, length, path, value, problem);
    }
    int status = find_settable_key(text, length, path, &pair, problem);
    if (status == OK) {
        *value = pair.value;
    }
    return status;
}

/* ---- adding and changing ---- */

static void put_span(struct buf *out, const char *text, size_t start, size_t end)
{
    if (end > start) {
        buf_append(out, text + start, end - start);
    }
}

/* Lines in the document's own way to end them. */
static void put_lines(struct buf *out, const char *lines, const char *newline)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        buf_append(out, lines, length);
        lines += length;
        if (*lines) {
            buf_puts(out, newline);
            lines++;
        }
    }
}

/* The table comes after everything else, with a blank line before it. */
static void add_table(const char *text, size_t length, const char *const *path, const char *lines,
                      struct buf *out)
{
    const char *newline = document_newline(text, length);
    put_span(out, text, 0, length);
    if (length > document_mark(text, length)) {
        buf_puts(out, text[length - 1] == '\n' ? "" : newline);
        buf_puts(out, newline);
    }
    buf_printf(out, "[%s.%s]%s", path[0], path[1], newline);
    put_lines(out, lines, newline);
}

int toml_set(const char *text, size_t length, const char *const *path, size_t depth,
             const char *value, struct buf *out, struct document_problem *problem)
{
    struct document_span table;
    struct toml_statement old;
    const char *newline = document_newline(text, length);
    int status = find_table(text, length, path, &table, problem);
    if (depth == PATH_PARTS && status == ERR_NOTFOUND) {
        add_table(text, length, path, value, out);
        return buf_error(out);
    }
    if (status != OK || depth == PATH_PARTS) {
        return status == OK ? ERR_INVALID : status;
    }
    status = find_settable_key(text, length, path, &old, problem);
    if (status == OK) {
        put_span(out, text, 0, old.value.start);
        buf_puts(out, value);
        put_span(out, text, old.value.end, length);
    } else if (status == ERR_NOTFOUND) {
        put_span(out, text, 0, table.end);
        buf_puts(out, text[table.end - 1] == '\n' ? "" : newline);
        buf_printf(out, "%s = %s%s", path[PATH_PARTS], value, newline);
        put_span(out, text, table.end, length);
    } else {
        return status;
    }
    return buf_error(out);
}

/* ---- taking out ---- */

/* Where the line before `start` begins when it is blank, otherwise `start`. */
static size_t with_blank_line(const char *text, size_t start)
{
    if (start == 0) {
        return start;
    }
    size_t line = document_line_start(text, start - 1);
    for (size_t i = line; i < start; i++) {
        if (text[i] != '\n' && text[i] != '\r' && text[i] != ' ' && text[i] != '\t') {
            return start;
        }
    }
    return line;
}

static int remove_table(const char *text, size_t length, const char *const *path, struct buf *out,
                        struct document_problem *problem)
{
    struct toml_walk walk;
    struct document_span table;
    int status = find_table(text, length, path, &table, problem);
    size_t kept = 0; /* up to here the document is in `out`, or left out */
    if (status == OK) {
        status = start_walk(&walk, text, length, path, problem);
    }
    while (status == OK && (status = next(&walk)) == OK) {
        bool ours = walk.has_header && header_depth(&walk, &walk.header) == PATH_PARTS;
        if (ours && walk.statement.kind != TOML_VALUE) {
            put_span(out, text, kept, with_blank_line(text, walk.statement.start));
        }
        if (ours) {
            kept = walk.statement.end;
        }
    }
    if (status != ERR_NOTFOUND || kept == 0) {
        return status;
    }
    put_span(out, text, kept, length);
    return buf_error(out);
}

int toml_remove(const char *text, size_t length, const char *const *path, size_t depth,
                struct buf *out, struct document_problem *problem)
{
    struct toml_statement pair;
    if (depth == PATH_PARTS) {
        return remove_table(text, length, path, out, problem);
    }
    int status = find_key(text, length, path, &pair, problem);
    if (status == OK) {
        put_span(out, text, 0, pair.start);
        put_span(out, text, pair.end, length);
        status = buf_error(out);
    }
    return status;
}

/* ---- strings ---- */

/* A string on one line, without escapes other than of quotes and backslashes; NULL otherwise. */
static const char *plain_string(struct arena *arena, const char *text, size_t start, size_t end)
{
    char quote = text[start];
    size_t length = end - start;
    if (length < 2 || (length >= 6 && text[start + 1] == quote)) {
        return NULL;
    }
    char *copy = arena_strndup(arena, text + start + 1, length - 2);
    if (!copy || quote == '\'') {
        return copy;
    }
    char *to = copy;
    for (const char *from = copy; *from; from++) {
        if (*from == '\\') {
            from++;
            if (*from != '"' && *from != '\\') {
                return NULL;
            }
        }
        *to++ = *from;
    }
    *to = '\0';
    return copy;
}

int toml_strings(struct arena *arena, const char *text, struct document_span value,
                 const char **strings, size_t most)
{
    struct document_problem problem;
    struct toml_scan scan;
    size_t count = 0;
    bool is_list = text[value.start] == '[';
    toml_scan_start(&scan, text, value.end, &problem);
    scan.at = value.start + is_list;
    do {
        if (toml_scan_space(&scan) != OK) {
            return ERR_INVALID;
        }
        if (is_list && text[scan.at] == ']') {
            break;
        }
        size_t start = scan.at;
        bool is_string = start < value.end && (text[start] == '"' || text[start] == '\'');
        if (!is_string || toml_scan_value(&scan) != OK || count == most) {
            return ERR_INVALID;
        }
        strings[count] = plain_string(arena, text, start, scan.at);
        if (!strings[count++]) {
            return ERR_INVALID;
        }
        if (toml_scan_space(&scan) != OK) {
            return ERR_INVALID;
        }
        scan.at += is_list && text[scan.at] == ',';
    } while (is_list && scan.at < value.end);
    return (int)count;
}
