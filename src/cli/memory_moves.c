/* `forage memory import`, `export`, `backup` and `namespaces`: they work on the whole store, on the
 * memories of all callers, with a bar that shows how far they are. */
#include "cli/cli.h"
#include "cli/terminal.h"
#include "cli/tool_command.h"
#include "core/files.h"
#include "core/limits.h"
#include "guard/callers.h"
#include "memory/fields.h"
#include "memory/lines.h"
#include "memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BAR_WIDTH   30
#define PIECE_BYTES KIB(256)

/* One run of a command. */
struct moving {
    const struct arguments *arguments;
    struct call *call;
    int (*run)(struct moving *moving);
};

static void show_bar(void *context, double done, double total, const char *message)
{
    (void)context;
    if (total <= 0) {
        terminal_progress("%s", message);
        return;
    }
    double part = done < total ? done / total : 1;
    int filled = (int)(part * BAR_WIDTH);
    terminal_progress("[%.*s%.*s] %3.0f %% %s", filled, "##############################",
                      BAR_WIDTH - filled, "..............................", part * 100, message);
}

static int fail(struct moving *moving, int status)
{
    call_fail_status(moving->call, status);
    terminal_progress_end();
    return print_call_error(moving->call);
}

static int fail_file(const char *path)
{
    fprintf(stderr, "forage: %s: %s%s\n", path ? path : "standard input", strerror(errno),
            errno == EEXIST ? "; name a new file, nothing is overwritten" : "");
    return EXIT_FAILED;
}

/* The file that is named; NULL: none, which is standard input or output. */
static const char *named_file(const struct moving *moving)
{
    const char *path = moving->arguments->count ? moving->arguments->words[0] : NULL;
    return path && strcmp(path, "-") == 0 ? NULL : path;
}

static int run_moving(struct app *app, struct call *call, void *context)
{
    (void)app;
    struct moving *moving = context;
    moving->call = call;
    return moving->run(moving);
}

static int start(const struct arguments *arguments, int (*run)(struct moving *moving))
{
    struct moving moving = {.arguments = arguments, .run = run};
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    log_quietly();
    struct call_options options = run_options(show_bar);
    return run_in_app(&options, run_moving, &moving);
}

/* ---- import ---- */

/* What is imported. It is read twice: to check it, and to take it. */
struct import_source {
    const char *path; /* NULL: standard input */
    int fd;
    off_t start;
    double size; /* 0: not known yet */
    int copy;    /* a nameless file for what cannot be read again; -1: none */
    int error;   /* why it could not be read; 0: it could */
};

/* A file that nobody else sees and that goes with its descriptor. */
static int open_copy(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/forage-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        unlink(path);
    }
    return fd;
}

static int open_source(struct import_source *source)
{
    struct stat about = {0};
    source->copy = -1;
    source->fd = source->path ? open(source->path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (source->fd < 0 || fstat(source->fd, &about) != 0) {
        return fail_file(source->path);
    }
    source->start = S_ISREG(about.st_mode) ? lseek(source->fd, 0, SEEK_CUR) : -1;
    source->size = source->start >= 0 ? (double)(about.st_size - source->start) : 0;
    source->copy = source->start < 0 ? open_copy() : -1;
    if (source->start < 0 && source->copy < 0) {
        return fail_file("the folder for temporary files (TMPDIR)");
    }
    return EXIT_OK;
}

static void close_source(struct import_source *source)
{
    if (source->path && source->fd >= 0) {
        close(source->fd);
    }
    if (source->copy >= 0) {
        close(source->copy);
    }
}

/* Goes back to the beginning, for the second time. */
static int rewind_source(struct import_source *source)
{
    int fd = source->copy >= 0 ? source->copy : source->fd;
    off_t end = source->copy >= 0 ? lseek(source->copy, 0, SEEK_END) : 0;
    source->size = source->copy >= 0 ? (double)end : source->size;
    return lseek(fd, source->copy >= 0 ? 0 : source->start, SEEK_SET) >= 0 ? OK : ERR_IO;
}

/* Feeds all of the source. */
static int feed(struct moving *moving, struct import_source *source, struct lines *lines,
                bool checks)
{
    static char piece[PIECE_BYTES];
    int fd = !checks && source->copy >= 0 ? source->copy : source->fd;
    double done = 0;
    ssize_t got = 0;
    int status = OK;
    while (status == OK && (got = read_waiting(moving->call, fd, piece, sizeof piece)) > 0) {
        if (checks && source->copy >= 0) {
            status = write_all(source->copy, piece, (size_t)got);
            source->error = status == OK ? 0 : errno;
        }
        status = status == OK ? lines_feed(lines, piece, (size_t)got) : status;
        done += (double)got;
        call_progress(moving->call, done, source->size, "%s%zu memories",
                      checks ? "checking, " : "", lines_count(lines).lines);
    }
    source->error = got == ERR_IO ? errno : source->error;
    status = status == OK && got < 0 ? (int)got : status;
    return status == OK ? lines_end(lines) : status;
}

static int import_pass(struct moving *moving, struct import_source *source,
                       struct lines_options *options, struct lines_counts *counts)
{
    struct lines *lines = lines_new(moving->call, options);
    int status = lines ? feed(moving, source, lines, options->only_checks) : ERR_NOMEM;
    if (lines) {
        *counts = lines_count(lines);
    }
    if (status != OK && source->error) {
        errno = source->error;
        fail_file(source->path);
    } else if (status != OK) {
        fail(moving, status);
    }
    if (lines && counts->wrong > 0) {
        fputs(lines_report(lines), stderr);
    }
    lines_free(lines);
    return status;
}

static void print_blank(const struct lines_counts *counts)
{
    size_t named =
        counts->blank < LIMIT_MEMORY_WRONG_LINES ? counts->blank : LIMIT_MEMORY_WRONG_LINES;
    for (size_t i = 0; i < named; i++) {
        printf("%s %zu was left out: its text is blank\n", counts->is_item ? "item" : "line",
               counts->blank_numbers[i]);
    }
    if (counts->blank > named) {
        printf("%zu more were left out: their text is blank\n", counts->blank - named);
    }
}

static int print_counts(struct moving *moving, const struct lines_counts *counts)
{
    if (option_given(moving->arguments, "--json")) {
        struct arena *arena = call_arena(moving->call);
        yyjson_mut_doc *doc = json_new(arena);
        yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
        yyjson_mut_obj_add_bool(doc, root, "success", true);
        lines_describe(counts, doc, yyjson_mut_obj_add_obj(doc, root, "data"));
        return print_json(arena, root, WORDS_OF_CALLER);
    }
    printf("%zu of %zu memories: %zu added, %zu replaced, %zu unchanged\n", counts->lines,
           counts->lines + counts->expired + counts->others + counts->blank, counts->added,
           counts->replaced, counts->unchanged);
    if (counts->others > 0) {
        printf("%zu more were left out: they are of other namespaces\n", counts->others);
    }
    if (counts->expired > 0) {
        printf("%zu more were left out: they have expired\n", counts->expired);
    }
    print_blank(counts);
    return EXIT_OK;
}

static int import_source(struct moving *moving, struct import_source *source,
                         struct lines_options *options)
{
    struct lines_counts counts = {0};
    int status = import_pass(moving, source, options, &counts);
    if (status != OK) {
        if (counts.wrong > 0) {
            fprintf(stderr, "forage: %zu wrong; nothing was imported\n", counts.wrong);
        }
        return EXIT_FAILED;
    }
    options->only_checks = false;
    status = rewind_source(source);
    if (status != OK) {
        return fail_file(source->path);
    }
    status = import_pass(moving, source, options, &counts);
    if (status != OK) {
        fprintf(stderr,
                "forage: %zu memories were imported before that; the same import again adds the "
                "rest\n",
                counts.lines);
        return EXIT_FAILED;
    }
    terminal_progress_end();
    return print_counts(moving, &counts);
}

static int run_import(struct moving *moving)
{
    struct import_source source = {.path = named_file(moving)};
    const char *format = option_text(moving->arguments, "--format");
    struct memory_space space;
    struct lines_options options = {
        .only = option_text(moving->arguments, "--namespace"),
        .into = option_text(moving->arguments, "--into"),
        .format = format && strcmp(format, "auto") == 0 ? NULL : format,
        .of_everybody = true,
        .only_checks = true,
    };
    if (memory_space_of(moving->call, options.only, &space) != OK ||
        memory_space_of(moving->call, options.into, &space) != OK) {
        return print_call_error(moving->call);
    }
    int code = open_source(&source);
    if (code == EXIT_OK) {
        tell_waiting(source.fd, "memories, one a line as JSON");
        code = import_source(moving, &source, &options);
    }
    close_source(&source);
    return code;
}

int command_memory_import(const struct arguments *arguments)
{
    return start(arguments, run_import);
}

/* ---- export ---- */

struct export_output {
    struct moving *moving;
    struct arena *arena;
    struct buf line;
    FILE *out;
    int error; /* why the output took no more; 0: it takes all */
    size_t count;
    size_t damaged;
};

/* The caller that a line names: nobody where it is whoever imports it, or where it is shared. */
static const char *named_caller(const struct memory_space *space)
{
    return *space->owner && strcmp(space->owner, caller_local()->name) != 0 ? space->owner : NULL;
}

static int write_memory(void *context, const struct memory_space *space,
                        const struct memory *memory)
{
    struct export_output *export = context;
    buf_clear(&export->line);
    int status =
        fields_write_line(&export->line, export->arena, space->name, named_caller(space), memory);
    arena_reset(export->arena);
    if (status == OK) {
        bool taken = export->out == stdout ? print_bytes(export->line.data, export->line.length)
                                           : fwrite(export->line.data, 1, export->line.length,
                                                    export->out) == export->line.length;
        export->error = taken ? 0 : errno;
        status = taken ? OK : ERR_CANCELLED; /* the store is not to blame */
    }
    export->damaged += memory->damage != NULL;
    if (++export->count % 1000 == 0) {
        call_progress(export->moving->call, (double)export->count, 0, "%zu memories",
                      export->count);
    }
    return status;
}

static int export_to(struct moving *moving, FILE *out, struct memory_extent *extent, int *error)
{
    struct memory_space space = {NULL, NULL};
    const char *name = option_text(moving->arguments, "--namespace");
    struct memory_scope scope = {.space = name ? &space : NULL, .of_everybody = true};
    struct export_output export = {
        .moving = moving, .arena = arena_new(4 * LIMIT_MEMORY_LINE_BYTES), .out = out};
    buf_init(&export.line, LIMIT_MEMORY_LINE_BYTES);
    int status = export.arena ? memory_space_of(moving->call, name, &space) : ERR_NOMEM;
    if (status == OK) {
        status = memory_export(moving->call, &scope, write_memory, &export, extent);
    }
    if (status == OK && fflush(out) != 0) {
        export.error = errno;
    }
    if (export.damaged > 0) {
        terminal_progress_end();
        fprintf(stderr, "forage: %zu of the memories are damaged; their lines say so\n",
                export.damaged);
    }
    *error = export.error;
    buf_done(&export.line);
    arena_free(export.arena);
    return status;
}

/* The descriptor stays open. */
static int export_to_file(struct moving *moving, int fd, struct memory_extent *extent, int *error)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (!out) {
        *error = errno;
        close(copy);
        return ERR_IO;
    }
    int status = export_to(moving, out, extent, error);
    fclose(out); /* nothing is left in it but what an error stopped */
    return status;
}

/* How much of the store was written, on standard error: the memories may be on standard output. */
static void tell_extent(struct moving *moving, const struct memory_extent *extent)
{
    terminal_progress_end();
    fprintf(stderr, "%lld of %lld memories, %lld of %lld namespaces", (long long)extent->memories,
            (long long)extent->all_memories, (long long)extent->namespaces,
            (long long)extent->all_namespaces);
    if (option_given(moving->arguments, "--namespace")) {
        fputs("; without --namespace: all of them", stderr);
    } else if (extent->memories < extent->all_memories) {
        fputs("; FORAGE_SHARED_NAMESPACES hides the rest, see `forage memory namespaces`", stderr);
    }
    fputc('\n', stderr);
}

static int run_export(struct moving *moving)
{
    const char *path = named_file(moving);
    struct memory_extent extent = {0};
    int error = 0;
    int fd = path ? new_file(path) : -1;
    if (path && fd < 0) {
        return fail_file(path);
    }
    int status = path ? export_to_file(moving, fd, &extent, &error)
                      : export_to(moving, stdout, &extent, &error);
    if (path && new_file_end(fd, path, error ? ERR_IO : status) != status && !error) {
        error = errno;
    }
    if (error) {
        errno = error;
        return path ? fail_file(path) : EXIT_FAILED; /* the program's end reports the output */
    }
    if (status != OK) {
        return fail(moving, status);
    }
    tell_extent(moving, &extent);
    return EXIT_OK;
}

int command_memory_export(const struct arguments *arguments)
{
    return start(arguments, run_export);
}

/* ---- backup ---- */

static int run_backup(struct moving *moving)
{
    const char *path = named_file(moving);
    if (!path) {
        return usage_error("memory backup needs a file that is not there");
    }
    if (access(path, F_OK) == 0) {
        errno = EEXIST;
        return fail_file(path);
    }
    call_progress(moving->call, 0, 0, "copying");
    int status = memory_backup(moving->call, path);
    if (status != OK) {
        return fail(moving, status);
    }
    printf("%s\n", path);
    return EXIT_OK;
}

int command_memory_backup(const struct arguments *arguments)
{
    return start(arguments, run_backup);
}

/* ---- reindex ---- */

static int run_reindex(struct moving *moving)
{
    struct memory_reindexed done;
    int status = memory_reindex(moving->call, &done);
    if (status != OK) {
        return fail(moving, status);
    }
    printf("%lld memories in %lld namespaces\n", (long long)done.memories,
           (long long)done.namespaces);
    return EXIT_OK;
}

int command_memory_reindex(const struct arguments *arguments)
{
    return start(arguments, run_reindex);
}

/* ---- namespaces ---- */

struct namespace_listing {
    struct buf text;
    yyjson_mut_doc *doc;
    yyjson_mut_val *list;
};

static int list_namespace(void *context, const struct memory_namespace *namespace)
{
    struct namespace_listing *listing = context;
    const struct memory_space *space = &namespace->space;
    const char *caller = named_caller(space);
    bool shared = *space->owner == '\0';
    buf_printf(&listing->text, "%8lld  ", (long long)namespace->memories);
    terminal_put(&listing->text, space->name, strlen(space->name), 0);
    if (caller) {
        buf_puts(&listing->text, "  of ");
        terminal_put(&listing->text, caller, strlen(caller), 0);
    }
    buf_printf(&listing->text, "%s%s\n", shared ? "  shared" : "",
               namespace->hidden ? "  hidden by FORAGE_SHARED_NAMESPACES" : "");
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(listing->doc, listing->list);
    yyjson_mut_obj_add_strcpy(listing->doc, item, "name", space->name);
    yyjson_mut_obj_add_sint(listing->doc, item, "memories", namespace->memories);
    yyjson_mut_obj_add_bool(listing->doc, item, "shared", shared);
    if (!shared) {
        yyjson_mut_obj_add_strcpy(listing->doc, item, "caller", space->owner);
    }
    if (namespace->hidden) {
        yyjson_mut_obj_add_bool(listing->doc, item, "hidden", true);
    }
    return buf_error(&listing->text);
}

static int run_namespaces(struct moving *moving)
{
    struct arena *arena = call_arena(moving->call);
    struct memory_scope everything = {.of_everybody = true};
    struct namespace_listing listing = {.doc = json_new(arena)};
    yyjson_mut_val *root = listing.doc ? yyjson_mut_obj(listing.doc) : NULL;
    yyjson_mut_obj_add_bool(listing.doc, root, "success", true);
    yyjson_mut_val *data = yyjson_mut_obj_add_obj(listing.doc, root, "data");
    listing.list = yyjson_mut_obj_add_arr(listing.doc, data, "namespaces");
    buf_init(&listing.text, LIMIT_CALL_ARENA_BYTES);
    int status = memory_namespaces(moving->call, &everything, list_namespace, &listing);
    status = status == OK && arena_failed(arena) ? ERR_NOMEM : status;
    if (status != OK || option_given(moving->arguments, "--json")) {
        buf_done(&listing.text);
        return status == OK ? print_json(arena, root, WORDS_OF_CALLER) : fail(moving, status);
    }
    if (listing.text.length == 0) {
        fputs("forage: there are no memories yet\n", stderr);
    }
    return print_buf(&listing.text, WORDS_OF_CALLER);
}

int command_memory_namespaces(const struct arguments *arguments)
{
    return start(arguments, run_namespaces);
}
