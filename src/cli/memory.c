/* `forage memory add`, `search` and the others that are tools: memories for people. What a tool
 * does is done by the tool, as any client would call it; here words become its arguments, and its
 * result becomes text. Words of memories go to a terminal without what could move its cursor. */
#include "cli/cli.h"
#include "cli/terminal.h"
#include "cli/tool_command.h"
#include "core/limits.h"
#include "text/columns.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES    KIB(64)
#define EXCERPT_INDENT 6

/* ---- what each tool prints ---- */

/* Appends words that make one line, cut where the terminal's line ends. */
static void put_line(struct buf *out, const char *text, size_t used)
{
    terminal_put(out, text, strlen(text), terminal_room(stdout, used));
    buf_putc(out, '\n');
}

static void put_words(struct buf *out, const char *text)
{
    terminal_put(out, text, strlen(text), 0);
}

/* Appends a text of several lines: as it is for a script, harmless for a terminal. */
static void put_text(struct buf *out, const char *text)
{
    if (!isatty(STDOUT_FILENO)) {
        buf_printf(out, "%s\n", text);
        return;
    }
    for (const char *at = text; at;) {
        const char *stop = strchr(at, '\n');
        terminal_put(out, at, stop ? (size_t)(stop - at) : strlen(at), 0);
        buf_putc(out, '\n');
        at = stop ? stop + 1 : NULL;
    }
}

static void print_changed(struct buf *out, yyjson_mut_val *data)
{
    const char *outcome = text_of(data, "outcome");
    buf_printf(out, strcmp(outcome, "renamed") == 0 ? "%s to " : "%s ", outcome);
    put_words(out, text_of(data, "key"));
    size_t index, most;
    yyjson_mut_val *part;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(data, "merged"), index, most, part)
    {
        buf_printf(out, "%s%s", index ? ", " : ": merged its ", yyjson_mut_get_str(part));
    }
    yyjson_mut_val *replaced = yyjson_mut_obj_get(data, "replaced");
    if (replaced) {
        buf_printf(out, " (version %lld in place of version %lld, written %s)",
                   (long long)number_of(data, "version"), (long long)number_of(replaced, "version"),
                   text_of(replaced, "updated_at"));
    }
    buf_putc(out, '\n');
}

static void print_deleted(struct buf *out, yyjson_mut_val *data)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(data, "deleted"), index, max, item)
    {
        buf_puts(out, "deleted ");
        put_words(out, yyjson_mut_get_str(item));
        buf_putc(out, '\n');
    }
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
            buf_puts(out, index ? "\n== " : "== ");
            put_words(out, text_of(item, "key"));
            buf_puts(out, " ==\n");
        }
        put_text(out, text_of(item, "text"));
        if (yyjson_mut_obj_get(item, "next_start")) {
            buf_puts(out, "(there is more; `forage memory export` has all of it)\n");
        }
    }
}

static void print_list(struct buf *out, yyjson_mut_val *data)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_val *results = yyjson_mut_obj_get(data, "results");
    yyjson_mut_arr_foreach(results, index, max, item)
    {
        size_t start = out->length;
        buf_printf(out, "%.10s  ", text_of(item, "created_at"));
        put_words(out, text_of(item, "key"));
        buf_puts(out, "  ");
        size_t used =
            out->length > start ? text_columns(out->data + start, out->length - start) : 0;
        put_line(out, text_of(item, "summary"), used);
    }
    yyjson_mut_val *page = yyjson_mut_obj_get(data, "pagination");
    buf_printf(out, "%zu of %lld\n", yyjson_mut_arr_size(results),
               (long long)number_of(page, "total"));
}

/* Appends the beginning of a full-text excerpt, which is HTML: hits are marked, unless `plain`. */
static void put_marked(struct buf *out, const char *html, size_t size, bool plain)
{
    const char *end = html + size;
    const struct {
        const char *html;
        const char *text;
    } PARTS[] = {{"<mark>", plain ? "" : terminal_style(stdout, STYLE_HEADING)},
                 {"</mark>", plain ? "" : terminal_style(stdout, STYLE_PLAIN)},
                 {"&amp;", "&"},
                 {"&lt;", "<"},
                 {"&gt;", ">"},
                 {"&quot;", "\""},
                 {"&#39;", "'"}};
    while (html < end) {
        size_t length = strcspn(html, "<&");
        length = length < (size_t)(end - html) ? length : (size_t)(end - html);
        terminal_put(out, html, length, 0);
        html += length;
        for (size_t i = 0; html < end && i < sizeof PARTS / sizeof *PARTS; i++) {
            size_t taken = strlen(PARTS[i].html);
            if (strncmp(html, PARTS[i].html, taken) == 0) {
                buf_puts(out, PARTS[i].text);
                html += taken;
                break;
            }
        }
    }
}

/* How many columns a word of an excerpt takes. */
static size_t marked_columns(const char *html, size_t size)
{
    struct buf word;
    buf_init(&word, LIMIT_CALL_ARENA_BYTES);
    put_marked(&word, html, size, true);
    size_t columns = word.data ? text_columns(word.data, word.length) : 0;
    buf_done(&word);
    return columns;
}

/* Excerpts in lines that fit the terminal, set in below their keys. */

static void put_excerpt(struct buf *out, const char *text)
{
    terminal_put_wrapped(out, EXCERPT_INDENT, EXCERPT_INDENT, terminal_width(stdout), text);
}

static void put_marked_excerpt(struct buf *out, const char *html)
{
    static const char BLANKS[] = " \t\r\n";
    size_t width = terminal_width(stdout);
    size_t column = EXCERPT_INDENT;
    html += strspn(html, BLANKS);
    while (*html) {
        size_t length = strcspn(html, BLANKS);
        size_t columns = marked_columns(html, length);
        if (width && column > EXCERPT_INDENT && column + 1 + columns > width) {
            buf_printf(out, "\n%*s", EXCERPT_INDENT, "");
            column = EXCERPT_INDENT;
        } else if (column > EXCERPT_INDENT) {
            buf_putc(out, ' ');
            column++;
        }
        put_marked(out, html, length, false);
        column += columns;
        html += length;
        html += strspn(html, BLANKS);
    }
    buf_putc(out, '\n');
}

/* What the score of a result is made of, where that was asked for. */
static void put_explained(struct buf *out, yyjson_mut_val *made_of)
{
    static const char *const NAMES[] = {"words", "neighbours", "session", "meaning"};
    if (!made_of) {
        return;
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        buf_printf(out, "%*s%s %.3f", i > 0 ? 0 : EXCERPT_INDENT, i > 0 ? " + " : "", NAMES[i],
                   yyjson_mut_get_real(yyjson_mut_obj_get(made_of, NAMES[i])));
    }
    yyjson_mut_val *cosine = yyjson_mut_obj_get(made_of, "cosine");
    buf_printf(out, "; has %.2f of the question's words",
               yyjson_mut_get_real(yyjson_mut_obj_get(made_of, "share")));
    if (cosine) {
        buf_printf(out, ", cosine %.3f", yyjson_mut_get_real(cosine));
    }
    if (*text_of(made_of, "first_by")) {
        buf_printf(out, "; first by its %s", text_of(made_of, "first_by"));
    }
    buf_putc(out, '\n');
}

/* Results with excerpts; `put` writes an excerpt. */
static void put_hits(struct buf *out, yyjson_mut_val *data,
                     void (*put)(struct buf *out, const char *excerpt))
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_val *results = yyjson_mut_obj_get(data, "results");
    yyjson_mut_arr_foreach(results, index, max, item)
    {
        buf_printf(out, "%.2f  ", yyjson_mut_get_real(yyjson_mut_obj_get(item, "relevance")));
        put_words(out, text_of(item, "key"));
        buf_printf(out, "\n%*s", EXCERPT_INDENT, "");
        put(out, text_of(item, "excerpt"));
        put_explained(out, yyjson_mut_obj_get(item, "explain"));
    }
    if (yyjson_mut_arr_size(results) == 0) {
        fputs("forage: no memory was found\n", stderr);
    }
}

static void print_hits(struct buf *out, yyjson_mut_val *data)
{
    put_hits(out, data, put_excerpt);
}

static void print_marked_hits(struct buf *out, yyjson_mut_val *data)
{
    put_hits(out, data, put_marked_excerpt);
}

static void print_stats(struct buf *out, yyjson_mut_val *data)
{
    size_t index, max;
    yyjson_mut_val *item;
    buf_printf(out, "%s, schema %lld", text_of(data, "backend"),
               (long long)number_of(data, "schema_version"));
    if (number_of(data, "file_bytes") > 0) {
        buf_printf(out, ", a file of %lld bytes", (long long)number_of(data, "file_bytes"));
    }
    buf_printf(out, "\n%lld bytes with earlier versions", (long long)number_of(data, "used_bytes"));
    if (number_of(data, "quota_bytes") > 0) {
        buf_printf(out, " of %lld", (long long)number_of(data, "quota_bytes"));
    }
    buf_putc(out, '\n');
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(data, "namespaces"), index, max, item)
    {
        bool shared = yyjson_mut_get_bool(yyjson_mut_obj_get(item, "shared"));
        put_words(out, text_of(item, "name"));
        buf_printf(out, "%s: %lld memories, %lld sessions, %lld bytes of text",
                   shared ? " (shared)" : "", (long long)number_of(item, "memories"),
                   (long long)number_of(item, "sessions"),
                   (long long)number_of(item, "text_bytes"));
        if (number_of(item, "indexed") < number_of(item, "memories")) {
            buf_printf(out, ", %lld indexed", (long long)number_of(item, "indexed"));
        }
        if (*text_of(data, "model")) {
            buf_printf(out, ", %lld embedded", (long long)number_of(item, "embedded"));
        }
        if (*text_of(item, "oldest_at")) {
            buf_printf(out, ", %.10s to %.10s", text_of(item, "oldest_at"),
                       text_of(item, "newest_at"));
        }
        buf_putc(out, '\n');
    }
}

/* ---- the tools ---- */

/* What to do, by its name. */
static const struct action {
    const char *name;
    const char *tool;
    const char *first; /* the parameter that takes the first word, or NULL */
    const char *rest;  /* the parameter that takes the words after that, or NULL */
    bool several;      /* of them, as an array; otherwise they are joined by spaces */
    bool reads;        /* without words: from standard input */
    void (*print)(struct buf *out, yyjson_mut_val *data);
} ACTIONS[] = {
    {"add", "memory_add", NULL, "text", false, true, print_changed},
    {"get", "memory_get", NULL, "keys", true, false, print_texts},
    {"list", "memory_list", NULL, NULL, false, false, print_list},
    {"search", "memory_search", NULL, "query", false, false, print_hits},
    {"fulltext", "memory_fulltext_search", NULL, "keywords", true, false, print_marked_hits},
    {"update", "memory_update", "key", "text", false, false, print_changed},
    {"rename", "memory_rename", "key", "new_key", false, false, print_changed},
    {"delete", "memory_delete", NULL, "keys", true, false, print_deleted},
    {"stats", "memory_stats", NULL, NULL, false, false, print_stats},
};

static const struct action *find_action(const struct arguments *arguments)
{
    const char *name = arguments_command(arguments)->name;
    size_t i = 0;
    while (strcmp(ACTIONS[i].name, name) != 0) {
        i++; /* every part of the command in commands.c has its row, or a function of its own */
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

/* The words become the parameters that take them. */
static void add_words(struct tool_run *run)
{
    struct arena *arena = call_arena(run->call);
    const struct arguments *given = run->given;
    const struct action *action = find_action(given);
    int start = action->first && given->count ? 1 : 0;
    json_add_string(run->doc, run->parameters, "namespace", option_text(given, "--namespace"));
    json_add_string(run->doc, run->parameters, action->first ? action->first : "",
                    start ? given->words[0] : NULL);
    if (!action->rest) {
        return;
    }
    if (action->several) {
        yyjson_mut_val *list = yyjson_mut_obj_add_arr(run->doc, run->parameters, action->rest);
        for (int i = start; i < given->count; i++) {
            yyjson_mut_arr_add_str(run->doc, list, given->words[i]);
        }
        return;
    }
    const char *text = given->count > start ? given->words[start] : NULL;
    for (int i = start + 1; i < given->count && text; i++) {
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

/* Names the keys that there are no memories of, on standard error. Whether there are such. */
static bool lacks_keys(const struct tool_run *run)
{
    yyjson_mut_val *data = yyjson_mut_obj_get(run->result, "data");
    yyjson_mut_val *missing = yyjson_mut_obj_get(data, "missing");
    const char *space = option_text(run->given, "--namespace");
    size_t index, max;
    yyjson_mut_val *item;
    struct buf words;
    buf_init(&words, LIMIT_MESSAGE_BYTES);
    yyjson_mut_arr_foreach(missing, index, max, item)
    {
        buf_puts(&words, "forage: there is no memory of key ");
        put_words(&words, yyjson_mut_get_str(item));
        buf_puts(&words, " in the namespace ");
        put_words(&words, space ? space : "default");
        buf_puts(&words, "; `forage memory list` shows what there is\n");
    }
    fputs(words.data ? words.data : "", stderr);
    buf_done(&words);
    return yyjson_mut_arr_size(missing) > 0;
}

static int print_result(const struct tool_run *run)
{
    struct buf out;
    warn_damaged(yyjson_mut_obj_get(run->result, "data"));
    buf_init(&out, LIMIT_CALL_ARENA_BYTES);
    find_action(run->given)->print(&out, yyjson_mut_obj_get(run->result, "data"));
    return print_buf(&out, WORDS_OF_CALLER);
}

/* ---- the command ---- */

static int run_action(struct app *app, struct call *call, void *context)
{
    struct arguments given = *(const struct arguments *)context;
    const struct action *action = find_action(&given);
    struct tool_command tool = {.tool = action->tool,
                                .add = add_words,
                                .print = print_result,
                                .fails = lacks_keys,
                                .advice = MEMORY_ADVICE};
    char *words[2] = {given.count ? given.words[0] : NULL};
    int start = action->first ? 1 : 0;
    bool dash = action->first && given.count == 2 && strcmp(given.words[1], "-") == 0 &&
                strcmp(action->rest, "text") == 0;
    if (dash || (action->reads && given.count == 0)) {
        int status = read_text(call, &words[start]);
        if (status != OK) {
            call_fail_status(call, status);
            return print_call_error(call);
        }
        given.words = words;
        given.count = words[start] ? start + 1 : start;
    }
    return run_tool(&tool, &given, app, call);
}

int command_memory(const struct arguments *arguments)
{
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    log_quietly();
    struct arguments given = *arguments;
    struct call_options options = run_options(NULL);
    return run_in_app(&options, run_action, &given);
}
