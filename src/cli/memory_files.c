/* `forage memory import|export|check|backup`: long work on the whole store, with a bar that shows
 * how far it is. */
#include "cli/memory.h"
#include "core/limits.h"
#include "memory/fields.h"
#include "memory/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES KIB(256)

/* The file that is named; NULL: none, which is standard input or output. */
static const char *named_file(const struct memory_command *command)
{
    const char *path = command->arguments->count ? command->arguments->words[0] : NULL;
    return path && strcmp(path, "-") == 0 ? NULL : path;
}

static int fail_file(const char *path)
{
    fprintf(stderr, "forage: %s: %s\n", path ? path : "standard input", strerror(errno));
    return EXIT_FAILED;
}

/* ---- import ---- */

static int feed_file(struct memory_command *command, struct lines *lines, int fd, double size)
{
    static char piece[PIECE_BYTES];
    double done = 0;
    ssize_t got;
    int status = OK;
    while (status == OK && (got = read(fd, piece, sizeof piece)) > 0) {
        status = lines_feed(lines, piece, (size_t)got);
        done += (double)got;
        call_progress(command->call, done, size, "%zu memories", lines_count(lines).lines);
    }
    if (status == OK && got < 0) {
        status = ERR_IO;
    }
    return status == OK ? lines_end(lines) : status;
}

int memory_command_import(struct memory_command *command)
{
    const char *path = named_file(command);
    struct memory_space space;
    int status = memory_space_of(command->call, command->space, &space);
    if (status != OK) {
        return memory_command_failed(command, status);
    }
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    struct stat about = {0};
    if (fd < 0 || fstat(fd, &about) != 0) {
        return fail_file(path);
    }
    struct lines *lines = lines_new(command->call, &space);
    double size = S_ISREG(about.st_mode) ? (double)about.st_size : 0;
    status = lines ? feed_file(command, lines, fd, size) : ERR_NOMEM;
    struct lines_counts counts = lines ? lines_count(lines) : (struct lines_counts){0};
    lines_free(lines);
    if (path) {
        close(fd);
    }
    if (status != OK) {
        int code = memory_command_failed(command, status);
        fprintf(stderr, "forage: %zu memories were imported before that\n", counts.lines);
        return code;
    }
    printf("%zu memories: %zu added, %zu replaced, %zu unchanged\n", counts.lines, counts.added,
           counts.replaced, counts.unchanged);
    return EXIT_OK;
}

/* ---- export ---- */

struct export
{
    struct memory_command *command;
    struct arena *arena;
    struct buf line;
    FILE *out;
    size_t count;
};

static int write_memory(void *context, const struct memory *memory)
{
    struct export *export = context;
    buf_clear(&export->line);
    int status = fields_write_line(&export->line, export->arena, memory);
    arena_reset(export->arena);
    if (status == OK &&
        fwrite(export->line.data, 1, export->line.length, export->out) != export->line.length) {
        status = ERR_IO;
    }
    if (++export->count % 1000 == 0) {
        call_progress(export->command->call, (double)export->count, 0, "%zu memories",
                      export->count);
    }
    return status;
}

static int export_to(struct memory_command *command, FILE *out, size_t *count)
{
    struct memory_space space;
    struct export export = {
        .command = command, .arena = arena_new(4 * LIMIT_MEMORY_LINE_BYTES), .out = out};
    buf_init(&export.line, LIMIT_MEMORY_LINE_BYTES);
    int status = export.arena ? memory_space_of(command->call, command->space, &space) : ERR_NOMEM;
    if (status == OK) {
        status = memory_export(command->call, &space, write_memory, &export);
    }
    if (status == OK && fflush(out) != 0) {
        status = ERR_IO;
    }
    *count = export.count;
    buf_done(&export.line);
    arena_free(export.arena);
    return status;
}

int memory_command_export(struct memory_command *command)
{
    const char *path = named_file(command);
    size_t count = 0;
    /* A new file, for its owner only: memories are private. */
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    FILE *out = path ? (fd >= 0 ? fdopen(fd, "w") : NULL) : stdout;
    if (!out) {
        return fail_file(path);
    }
    int status = export_to(command, out, &count);
    if (path && (fsync(fd) != 0 || fclose(out) != 0) && status == OK) {
        status = ERR_IO;
    }
    if (status != OK) {
        return memory_command_failed(command, status);
    }
    if (path) {
        printf("%zu memories\n", count);
    }
    return EXIT_OK;
}

/* ---- check and backup ---- */

int memory_command_check(struct memory_command *command)
{
    struct memory_check check;
    bool repair = !option_given(command->arguments, "--no-repair");
    int status = memory_check(command->call, repair, &check);
    if (status != OK) {
        return memory_command_failed(command, status);
    }
    printf("%s%lld memories, %zu problems, %zu repaired\n", check.report, (long long)check.memories,
           check.problems, check.repaired);
    return check.problems > check.repaired ? EXIT_FAILED : EXIT_OK;
}

int memory_command_backup(struct memory_command *command)
{
    const char *path = named_file(command);
    if (!path) {
        return usage_error("memory backup needs a file that is not there");
    }
    call_progress(command->call, 0, 0, "copying");
    int status = memory_backup(command->call, path);
    if (status != OK) {
        return memory_command_failed(command, status);
    }
    printf("%s\n", path);
    return EXIT_OK;
}
