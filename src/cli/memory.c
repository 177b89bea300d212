/* `forage memory ...`: memories for people. What a tool does is done by the tool, as any client
 * would call it; import, export and backup work on the whole store, with a bar that shows
 * how far they are. */
#include "memory/memory.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "cli/terminal.h"
#include "core/limits.h"
#include "memory/fields.h"
#include "memory/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BAR_WIDTH   30
#define PIECE_BYTES KIB(256)

/* One run of the command. */
struct memory_command {
    const struct action *action;
    struct call *call;
    const struct arguments *arguments;
    const char *space; /* --namespace, or NULL */
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

static int fail(struct memory_command *command, int status)
{
    call_fail_status(command->call, status);
    return print_call_error(command->call);
}

/* ---- what each tool prints ---- */

static void print_changed(struct buf *out, yyjson_mut_val *data)
{
    buf_printf(out, "%s %s\n", text_of(data, "outcome"), text_of(data, "key"));
}

static void print_names(struct buf *out, yyjson_mut_val *data, const char *name, const char *word)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(data, name), index, max, item)
    {
        buf_printf(out, "%s %s\n", word, yyjson_mut_get_str(item));
    }
}

static void print_deleted(struct buf *out, yyjson_mut_val *data)
{
    print_names(out, data, "deleted", "deleted");
    print_names(out, data, "missing", "no memory of key");
}

/* One text as it is; of several each with its key. */
static void print_texts(struct buf *out, yyjson_mut_val *data)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_val *results = yyjson_mut_obj_get(data, "results");
    yyjson_mut_arr_foreach(results, index, max, item)
    {
        if (max > 1) {
            buf_printf(out, "%s== %s ==\n", index ? "\n" : "", text_of(item, "key"));
        }
        buf_printf(out, "%s\n", text_of(item, "text"));
        if (yyjson_mut_obj_get(item, "next_start")) {
            buf_puts(out, "(there is more; `forage memory export` has all of it)\n");
        }
    }
    print_names(out, data, "missing", "no memory of key");
}

static void print_list(struct buf *out, yyjson_mut_val *data)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_val *results = yyjson_mut_obj_get(data, "results");
    yyjson_mut_arr_foreach(results, index, max, item)
    {
        buf_printf(out, "%.10s  %s  %s\n", text_of(item, "created_at"), text_of(item, "key"),
                   text_of(item, "summary"));
    }
    yyjson_mut_val *page = yyjson_mut_obj_get(data, "pagination");
    buf_printf(out, "%zu of %llu\n", yyjson_mut_arr_size(results),
               (unsigned long long)yyjson_mut_get_uint(yyjson_mut_obj_get(page, "total")));
}

static void print_hits(struct buf *out, yyjson_mut_val *data)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(data, "results"), index, max, item)
    {
        buf_printf(out, "%.2f  %s\n      %s\n",
                   yyjson_mut_get_real(yyjson_mut_obj_get(item, "relevance")), text_of(item, "key"),
                   text_of(item, "excerpt"));
    }
}

/* ---- the whole store ---- */

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

static int feed_file(struct memory_command *command, struct lines *lines, int fd, double size)
{
    static char piece[PIECE_BYTES];
    double done = 0;
    ssize_t got;
    int status = OK;
    while (status == OK && (got = read_waiting(command->call, fd, piece, sizeof piece)) > 0) {
        status = lines_feed(lines, piece, (size_t)got);
        done += (double)got;
        call_progress(command->call, done, size, "%zu memories", lines_count(lines).lines);
    }
    if (status == OK && got < 0) {
        status = (int)got;
    }
    return status == OK ? lines_end(lines) : status;
}

static int run_import(struct memory_command *command)
{
    const char *path = named_file(command);
    struct memory_space space;
    int status = memory_space_of(command->call, command->space, &space);
    if (status != OK) {
        return fail(command, status);
    }
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    struct stat about = {0};
    if (fd < 0 || fstat(fd, &about) != 0) {
        return fail_file(path);
    }
    tell_waiting(fd, "memories, one a line as JSON");
    struct lines *lines = lines_new(command->call, &space);
    double size = S_ISREG(about.st_mode) ? (double)about.st_size : 0;
    status = lines ? feed_file(command, lines, fd, size) : ERR_NOMEM;
    struct lines_counts counts = lines ? lines_count(lines) : (struct lines_counts){0};
    lines_free(lines);
    if (path) {
        close(fd);
    }
    if (status != OK) {
        int code = fail(command, status);
        fprintf(stderr, "forage: %zu memories were imported before that\n", counts.lines);
        return code;
    }
    printf("%zu memories: %zu added, %zu replaced, %zu unchanged\n", counts.lines, counts.added,
           counts.replaced, counts.unchanged);
    if (counts.expired > 0) {
        printf("%zu more were left out: they have expired\n", counts.expired);
    }
    return EXIT_OK;
}

struct export
{
    struct memory_command *command;
    struct arena *arena;
    struct buf line;
    FILE *out;
    int error; /* why the output took no more; 0: it takes all */
    size_t count;
    size_t damaged;
};

static int write_memory(void *context, const struct memory *memory)
{
    struct export *export = context;
    buf_clear(&export->line);
    int status = fields_write_line(&export->line, export->arena, memory);
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
        call_progress(export->command->call, (double)export->count, 0, "%zu memories",
                      export->count);
    }
    return status;
}

static int export_to(struct memory_command *command, FILE *out, size_t *count, int *error)
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
        export.error = errno;
    }
    if (export.damaged > 0) {
        fprintf(stderr, "forage: %zu of the memories are damaged; their lines say so\n",
                export.damaged);
    }
    *count = export.count;
    *error = export.error;
    buf_done(&export.line);
    arena_free(export.arena);
    return status;
}

static int run_export(struct memory_command *command)
{
    const char *path = named_file(command);
    size_t count = 0;
    /* A new file, for its owner only: memories are private. */
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    FILE *out = path ? (fd >= 0 ? fdopen(fd, "w") : NULL) : stdout;
    if (!out) {
        return fail_file(path);
    }
    int error = 0;
    int status = export_to(command, out, &count, &error);
    if (path && (fsync(fd) != 0 || fclose(out) != 0) && !error) {
        error = errno;
    }
    if (error) {
        errno = error;
        return path ? fail_file(path) : EXIT_FAILED; /* the program's end reports the output */
    }
    if (status != OK) {
        return fail(command, status);
    }
    if (path) {
        printf("%zu memories\n", count);
    }
    return EXIT_OK;
}

static int run_backup(struct memory_command *command)
{
    const char *path = named_file(command);
    if (!path) {
        return usage_error("memory backup needs a file that is not there");
    }
    call_progress(command->call, 0, 0, "copying");
    int status = memory_backup(command->call, path);
    if (status != OK) {
        return fail(command, status);
    }
    printf("%s\n", path);
    return EXIT_OK;
}

/* ---- the tools ---- */

/* What to do, by its name. */
static const struct action {
    const char *name;
    const char *tool; /* NULL: a function of its own */
    const char *rest; /* the parameter that takes what is not an option */
    bool several;     /* of them, as an array; otherwise they are joined by spaces */
    void (*print)(struct buf *out, yyjson_mut_val *data);
    int (*run)(struct memory_command *command);
} ACTIONS[] = {
    {"add", "memory_add", "text", false, print_changed, NULL},
    {"get", "memory_get", "keys", true, print_texts, NULL},
    {"list", "memory_list", NULL, false, print_list, NULL},
    {"search", "memory_search", "query", false, print_hits, NULL},
    {"delete", "memory_delete", "keys", true, print_deleted, NULL},
    {.name = "import", .run = run_import},
    {.name = "export", .run = run_export},
    {.name = "backup", .run = run_backup},
};

static const struct action *find_action(const struct arguments *arguments)
{
    const char *name = arguments_command(arguments)->name;
    size_t i = 0;
    while (strcmp(ACTIONS[i].name, name) != 0) {
        i++; /* every part of the command in commands.c has its row */
    }
    return &ACTIONS[i];
}

/* The text that comes on standard input; what a shell adds at its end is left out. */
static int read_text(struct call *call, char **text)
{
    static char piece[PIECE_BYTES];
    struct buf bytes;
    ssize_t got;
    buf_init(&bytes, LIMIT_MESSAGE_BYTES);
    tell_waiting(STDIN_FILENO, "the text");
    do {
        got = read_waiting(call, STDIN_FILENO, piece, sizeof piece);
    } while (got > 0 && buf_append(&bytes, piece, (size_t)got) == OK);
    int status = got < 0 ? (int)got : buf_error(&bytes);
    size_t length = bytes.length;
    length -= length > 0 && bytes.data[length - 1] == '\n';
    if (status == OK && length > 0) {
        *text = arena_strndup(call_arena(call), bytes.data, length);
        status = *text ? OK : ERR_NOMEM;
    }
    buf_done(&bytes);
    return status;
}

/* The words become the parameter that takes them. */
static void add_words(struct tool_run *run)
{
    struct arena *arena = call_arena(run->call);
    const struct arguments *given = run->given;
    const struct action *action = find_action(given);
    json_add_string(run->doc, run->parameters, "namespace", option_text(given, "--namespace"));
    if (!action->rest) {
        return;
    }
    if (action->several) {
        yyjson_mut_val *list = yyjson_mut_obj_add_arr(run->doc, run->parameters, action->rest);
        for (int i = 0; i < given->count; i++) {
            yyjson_mut_arr_add_str(run->doc, list, given->words[i]);
        }
        return;
    }
    const char *text = given->count ? given->words[0] : NULL;
    for (int i = 1; i < given->count && text; i++) {
        text = arena_printf(arena, "%s %s", text, given->words[i]);
    }
    json_add_string(run->doc, run->parameters, action->rest, text);
}

/* Whatever is printed of a damaged memory, a line on standard error says that it is. */
static void warn_damaged(yyjson_mut_val *data)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(data, "results"), index, max, item)
    {
        if (yyjson_mut_obj_get(item, "damaged")) {
            fprintf(stderr, "forage: %s is damaged: %s\n", text_of(item, "key"),
                    text_of(item, "damaged"));
        }
    }
}

static int print_result(const struct tool_run *run)
{
    struct buf out;
    warn_damaged(yyjson_mut_obj_get(run->result, "data"));
    buf_init(&out, LIMIT_CALL_ARENA_BYTES);
    find_action(run->given)->print(&out, yyjson_mut_obj_get(run->result, "data"));
    return print_buf(&out);
}

/* ---- the command ---- */

static int run_action(struct app *app, struct call *call, void *context)
{
    struct memory_command *command = context;
    command->call = call;
    if (command->action->run) {
        return command->action->run(command);
    }
    struct tool_command tool = {
        .tool = command->action->tool, .add = add_words, .print = print_result};
    struct arguments given = *command->arguments;
    char *words[1];
    if (given.count == 0 && command->action->rest && !command->action->several) {
        char *text = NULL;
        int status = read_text(call, &text);
        if (status != OK) {
            return fail(command, status);
        }
        words[0] = text;
        given.words = words;
        given.count = text ? 1 : 0;
    }
    return run_tool(&tool, &given, app, call);
}

int command_memory(const struct arguments *arguments)
{
    struct memory_command command = {
        .action = find_action(arguments),
        .arguments = arguments,
        .space = option_text(arguments, "--namespace"),
    };
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    log_quietly();
    struct call_options options = run_options(show_bar);
    return run_in_app(&options, run_action, &command);
}
