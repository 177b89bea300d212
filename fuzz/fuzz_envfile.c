/* Fuzzes the configuration file. Whatever the bytes are: nothing crashes, a refusal says which
 * line, and what was understood can be written down again - quoted - and means the same. */
#include "config/envfile.h"
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "text/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_envfile: %s\n", what);
        abort();
    }
}

static void check_entry(const struct envfile_entry *entry, size_t previous_line, size_t lines)
{
    size_t key_length = strlen(entry->key);
    size_t value_length = strlen(entry->value);
    require(entry->line > previous_line && entry->line <= lines, "line");
    require(key_length > 0 && key_length <= ENVFILE_LONGEST_KEY, "length of a key");
    require(value_length <= LIMIT_CONFIG_VALUE_BYTES, "length of a value");
    require(text_is_utf8(entry->value, value_length), "a value that is not UTF-8");
    require(!strpbrk(entry->key, " \t=#'\"\\$-."), "a key with odd characters");
    for (const char *c = entry->value; *c; c++) {
        require((unsigned char)*c >= ' ' || *c == '\n' || *c == '\t', "a control character");
    }
}

/* KEY="value", with all escapes that a value needs. */
static void write_entry(struct buf *out, const struct envfile_entry *entry)
{
    buf_printf(out, "export %s = \"", entry->key);
    for (const char *c = entry->value; *c; c++) {
        if (*c == '\n') {
            buf_puts(out, "\\n");
        } else if (strchr("\"\\$", *c)) {
            buf_printf(out, "\\%c", *c);
        } else {
            buf_putc(out, *c);
        }
    }
    buf_puts(out, "\" # as before\r\n");
}

static void check_again(struct arena *arena, const struct envfile *file)
{
    struct buf written;
    struct envfile again;
    char problem[200];
    buf_init(&written, LIMIT_CONFIG_FILE_BYTES);
    buf_puts(&written, "\xEF\xBB\xBF");
    for (size_t i = 0; i < file->count; i++) {
        write_entry(&written, &file->entries[i]);
    }
    if (buf_error(&written) == OK) {
        int status =
            envfile_parse(arena, written.data, written.length, &again, problem, sizeof problem);
        require(status == OK || status == ERR_NOMEM, "what was written is refused");
        for (size_t i = 0; status == OK && i < file->count; i++) {
            require(again.count == file->count, "another number of entries");
            require(strcmp(again.entries[i].key, file->entries[i].key) == 0, "another key");
            require(strcmp(again.entries[i].value, file->entries[i].value) == 0, "another value");
        }
    }
    buf_done(&written);
}

FUZZ_TARGET(envfile)
{
    struct arena *arena = arena_new(MIB(16));
    if (!arena) {
        return 0;
    }
    struct envfile file;
    char problem[200];
    int status = envfile_parse(arena, (const char *)data, size, &file, problem, sizeof problem);
    require((status == OK) == (problem[0] == '\0'), "a message that does not fit the status");
    if (status == OK) {
        size_t lines = 1;
        for (size_t i = 0; i < size; i++) {
            lines += data[i] == '\n';
        }
        for (size_t i = 0; i < file.count; i++) {
            check_entry(&file.entries[i], i ? file.entries[i - 1].line : 0, lines);
        }
        check_again(arena, &file);
    } else {
        require(strncmp(problem, "line ", 5) == 0 || status == ERR_LIMIT, "no line number");
    }
    arena_free(arena);
    return 0;
}
