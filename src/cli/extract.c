/* `forage extract`: a page from standard input as Markdown, or many pages one after the other.
 *
 * With --batch each line of standard input is PAGE_PATH <tab> URL <tab> OUT_PATH; the Markdown goes
 * to OUT_PATH, and the answer is PAGE_PATH <tab> MICROSECONDS of processor time. */
#include "html/extract.h"
#include "cli/cli.h"
#include "cli/tool_command.h"
#include "core/arena.h"
#include "core/limits.h"
#include "core/status.h"
#include "reader/content.h"
#include "text/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- files ---- */

static int read_path(const char *path, struct buf *bytes)
{
    FILE *file = fopen(path, "rbe");
    if (!file) {
        return ERR_IO;
    }
    int status = read_stream(file, bytes);
    fclose(file);
    return status;
}

static int write_path(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wbe");
    if (!file) {
        return ERR_IO;
    }
    bool whole = fwrite(text, 1, length, file) == length;
    return fclose(file) == 0 && whole ? OK : ERR_IO;
}

/* ---- one page ---- */

static void add_facts(yyjson_mut_doc *doc, yyjson_mut_val *object,
                      const struct extract_result *page)
{
    json_add_string(doc, object, "kind", page->kind);
    json_add_string(doc, object, "title", page->title);
    json_add_string(doc, object, "authors", page->authors);
    json_add_string(doc, object, "published", page->published);
    json_add_string(doc, object, "modified", page->modified);
    json_add_string(doc, object, "site", page->site);
    json_add_string(doc, object, "canonical", page->canonical);
    json_add_string(doc, object, "language", page->language);
    json_add_string(doc, object, "description", page->description);
    json_add_string(doc, object, "encoding", page->encoding);
    if (page->encoding_guessed) {
        yyjson_mut_obj_add_bool(doc, object, "encoding_guessed", true);
    }
    json_add_string(doc, object, "access", page->access);
    yyjson_mut_obj_add_uint(doc, object, "words", page->words);
    yyjson_mut_obj_add_bool(doc, object, "cut", page->cut);
    yyjson_mut_obj_add_bool(doc, object, "shell", page->shell);
    content_add_omitted(&page->omitted, doc, object);
    for (size_t i = 0; i < page->text_count; i++) {
        yyjson_mut_val *list = i ? yyjson_mut_obj_get(object, "account")
                                 : yyjson_mut_obj_add_arr(doc, object, "account");
        yyjson_mut_val *text = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, text, "what", page->texts[i].what);
        yyjson_mut_obj_add_strn(doc, text, "text", page->texts[i].text, page->texts[i].length);
    }
    yyjson_mut_obj_add_strn(doc, object, "markdown", page->markdown, page->length);
}

/* A value of the head: in quotes, as JSON writes it, which YAML reads alike. */
static void put_fact(struct buf *out, const char *name, const char *value)
{
    if (!value || !*value) {
        return;
    }
    buf_printf(out, "%s: \"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\') {
            buf_putc(out, '\\');
        }
        buf_putc(out, (unsigned char)*value < 0x20 ? ' ' : *value);
    }
    buf_puts(out, "\"\n");
}

/* What is known of the page, then its text. */
static void put_markdown(struct buf *out, const struct extract_result *page)
{
    buf_puts(out, "---\n");
    put_fact(out, "title", page->title);
    put_fact(out, "authors", page->authors);
    put_fact(out, "published", page->published);
    put_fact(out, "site", page->site);
    put_fact(out, "url", page->canonical);
    put_fact(out, "kind", page->kind);
    put_fact(out, "access", page->access);
    if (page->encoding_guessed || strcmp(page->encoding, "utf-8") != 0) {
        put_fact(out, "encoding", page->encoding);
    }
    if (page->encoding_guessed) {
        buf_puts(out, "encoding_guessed: true\n");
    }
    if (page->cut) {
        buf_puts(out, "cut: true\n");
    }
    buf_puts(out, "---\n\n");
    buf_append(out, page->markdown, page->length);
}

static int print_result(struct arena *arena, const struct extract_result *page, bool as_json)
{
    struct buf out;
    buf_init(&out, 2 * LIMIT_MARKDOWN_BYTES);
    if (as_json) {
        yyjson_mut_doc *doc = json_new(arena);
        yyjson_mut_val *object = yyjson_mut_obj(doc);
        add_facts(doc, object, page);
        json_write_pretty(&out, arena, object);
        buf_putc(&out, '\n');
    } else {
        put_markdown(&out, page);
    }
    return print_buf(&out, WORDS_FROM_OUTSIDE);
}

static int extract_one(struct arena *arena, const struct arguments *given)
{
    bool as_json = option_given(given, "--json");
    struct buf bytes;
    buf_init(&bytes, LIMIT_PAGE_INPUT_BYTES);
    tell_waiting(STDIN_FILENO, "a page of HTML");
    int status = read_stream(stdin, &bytes);
    bool cut = status == ERR_LIMIT;
    struct extract_result page;
    if (status == OK || cut) {
        struct extract_input input = {
            .bytes = bytes.data ? bytes.data : "",
            .length = bytes.length,
            .url = option_text(given, "--url"),
            .all = option_given(given, "--all"),
            .account = as_json && option_given(given, "--account"),
        };
        status = extract_page(arena, &input, &page);
        page.cut = page.cut || cut;
    }
    buf_done(&bytes);
    if (status != OK) {
        fprintf(stderr, "forage: the page could not be read: %s\n", status_name(status));
        return EXIT_FAILED;
    }
    return print_result(arena, &page, as_json);
}

/* ---- many pages ---- */

static long long processor_microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* One line of the protocol; false when it is not one. */
static bool extract_line(struct arena *arena, char *line, bool all)
{
    line[strcspn(line, "\r\n")] = '\0';
    char *url = strchr(line, '\t');
    char *out = url ? strchr(url + 1, '\t') : NULL;
    if (!out) {
        return false;
    }
    *url++ = '\0';
    *out++ = '\0';
    struct buf bytes;
    buf_init(&bytes, LIMIT_PAGE_INPUT_BYTES);
    int status = read_path(line, &bytes);
    struct extract_result page = {.markdown = ""};
    long long started = processor_microseconds();
    if (status == OK || status == ERR_LIMIT) {
        struct extract_input input = {
            .bytes = bytes.data ? bytes.data : "", .length = bytes.length, .url = url, .all = all};
        status = extract_page(arena, &input, &page);
    }
    long long taken = processor_microseconds() - started;
    struct buf text;
    buf_init(&text, 2 * LIMIT_MARKDOWN_BYTES);
    if (status == OK) {
        put_markdown(&text, &page);
    }
    status = write_path(out, text.data ? text.data : "", text.length);
    buf_done(&text);
    buf_done(&bytes);
    printf("%s\t%lld\n", line, taken);
    return status == OK && fflush(stdout) == 0;
}

static int extract_batch(struct arena *arena, bool all)
{
    char *line = NULL;
    size_t size = 0;
    bool fine = true;
    tell_waiting(STDIN_FILENO, "lines of PAGE_PATH, URL and OUT_PATH, separated by tabs");
    while (fine && getline(&line, &size, stdin) > 0) {
        fine = extract_line(arena, line, all);
        arena_reset(arena);
    }
    free(line);
    return fine ? EXIT_OK : usage_error("a line is PAGE_PATH <tab> URL <tab> OUT_PATH");
}

int command_extract(const struct arguments *arguments)
{
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    if (!arena) {
        return EXIT_FAILED;
    }
    int code = option_given(arguments, "--batch")
                   ? extract_batch(arena, option_given(arguments, "--all"))
                   : extract_one(arena, arguments);
    arena_free(arena);
    return code;
}
