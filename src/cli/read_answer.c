/* `forage read` and `forage answer`: each runs a tool and prints its result for people. The result
 * goes to standard output, everything else to standard error. */
#include "cli/cli.h"
#include "cli/tool_command.h"
#include "core/limits.h"
#include "core/redact.h"
#include "reader/content.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- read: a page as Markdown ---- */

/* The title goes before the beginning of a page that does not begin with it. */
static const char *title_to_show(const struct tool_run *run)
{
    int64_t start = 0;
    option_number(run->given, "--start", &start);
    bool beginning =
        start == 0 && !option_given(run->given, "--outline") && !*text_of(run->result, "section");
    bool has_one = strncmp(text_of(run->result, "page_content"), "# ", 2) == 0;
    return beginning && !has_one ? text_of(run->result, "title") : "";
}

/* 1234567 as "1,234,567". */
static void put_number(struct buf *out, int64_t number)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)number);
    for (int i = 0; i < length; i++) {
        buf_puts(out, i && (length - i) % 3 == 0 ? "," : "");
        buf_putc(out, digits[i]);
    }
}

/* One line on what the page has besides. What nobody can see is nobody's loss. */
static void print_omitted(const struct tool_run *run)
{
    struct buf line;
    size_t index, most;
    yyjson_mut_val *part;
    buf_init(&line, KIB(4));
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(run->result, "omitted"), index, most, part)
    {
        const char *what = text_of(part, "what");
        size_t headings = yyjson_mut_arr_size(yyjson_mut_obj_get(part, "headings"));
        if (strcmp(what, "hidden") == 0) {
            continue;
        }
        buf_printf(&line, "%s %s ", line.length ? "," : "forage: left out:", what);
        put_number(&line, number_of(part, "chars"));
        if (headings) {
            buf_printf(&line, " (%zu%s heading%s)", headings,
                       headings == OMITTED_HEADINGS ? " or more" : "", headings == 1 ? "" : "s");
        }
    }
    if (line.length) {
        fprintf(stderr, "%s%s\n", line.data,
                option_given(run->given, "--all") ? "" : "; --all shows everything");
    }
    buf_done(&line);
}

static int print_page(const struct tool_run *run)
{
    struct buf text;
    const char *title = title_to_show(run);
    const char *content = text_of(run->result, "page_content");
    if (yyjson_mut_get_bool(yyjson_mut_obj_get(run->result, "failed"))) {
        fprintf(stderr, "%s\n", content); /* a note in the place of the page */
        print_notes(yyjson_mut_obj_get(run->result, "notes"), text_of(run->result, "access"));
        return EXIT_FAILED;
    }
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    if (*title) {
        buf_printf(&text, "# %s\n\n", title);
    }
    buf_puts(&text, content);
    if (text.length && text.data[text.length - 1] != '\n') {
        buf_putc(&text, '\n');
    }
    int code = print_buf(&text, WORDS_FROM_OUTSIDE);
    print_notes(yyjson_mut_obj_get(run->result, "notes"), text_of(run->result, "access"));
    if (yyjson_mut_obj_get(run->result, "next_start")) {
        fprintf(stderr, "forage: there is more: --start %lld\n",
                (long long)number_of(run->result, "next_start"));
    }
    print_omitted(run);
    return code;
}

/* Whether one of several pages could not be read. */
static bool any_failed(const struct tool_run *run)
{
    size_t index, most;
    yyjson_mut_val *page;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(run->result, "results"), index, most, page)
    {
        if (!yyjson_mut_get_bool(yyjson_mut_obj_get(page, "success")) ||
            yyjson_mut_get_bool(yyjson_mut_obj_get(page, "failed"))) {
            return true;
        }
    }
    return false;
}

/* A page under its address; a rule between two. */
static int print_one_of_several(const struct tool_run *run, bool first)
{
    struct buf line;
    const char *url = text_of(run->result, "url");
    buf_init(&line, KIB(64));
    buf_printf(&line, "%sSource: %s\n\n", first ? "" : "\n---\n\n", url);
    int code = print_buf(&line, WORDS_FROM_OUTSIDE);
    if (code != EXIT_OK) {
        return code;
    }
    fprintf(stderr, "forage: %s\n", url);
    return print_page(run);
}

/* One page, or several, of which those that could not be read are told on standard error. */
static int print_pages(const struct tool_run *run)
{
    size_t index, most;
    yyjson_mut_val *page;
    yyjson_mut_val *pages = yyjson_mut_obj_get(run->result, "results");
    bool first = true;
    int code = EXIT_OK;
    if (!pages) {
        return print_page(run);
    }
    yyjson_mut_arr_foreach(pages, index, most, page)
    {
        struct tool_run one = *run;
        one.result = page;
        yyjson_mut_val *error = yyjson_mut_obj_get(page, "error");
        if (error) {
            fprintf(stderr, "forage: %s: %s\n", text_of(page, "url"), text_of(error, "message"));
        } else if (yyjson_mut_get_bool(yyjson_mut_obj_get(page, "failed"))) {
            print_page(&one);
        } else if (!yyjson_mut_obj_get(page, "same_as") && code == EXIT_OK) {
            code = print_one_of_several(&one, first);
            first = false;
        }
    }
    return code;
}

/* What was given, as an address or as the path of a file. */
struct target {
    const char *given;
    const char *address; /* NULL: it is a path */
    bool guessed;        /* the address has a scheme that nobody gave */
};

/* A file that is here, under a name that no site has. */
static bool is_document(const char *given)
{
    static const char *const ENDINGS[] = {".pdf",  ".docx", ".docm",  ".odt",  ".epub", ".pptx",
                                          ".xlsx", ".xlsm", ".ipynb", ".html", ".htm",  ".xhtml",
                                          ".md",   ".txt",  ".json",  ".xml",  ".svg",  ".csv"};
    const char *ending = strrchr(given, '.');
    struct stat file;
    for (size_t i = 0; ending && i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        if (strcasecmp(ending, ENDINGS[i]) == 0) {
            return stat(given, &file) == 0 && !S_ISDIR(file.st_mode);
        }
    }
    return false;
}

static bool is_path(const char *given)
{
    return strncmp(given, "./", 2) == 0 || strncmp(given, "../", 3) == 0 || given[0] == '/' ||
           is_document(given);
}

/* "https:", "mailto:"; but not "example.org:8080/x", where a port follows the colon. */
static bool has_scheme(const char *given)
{
    size_t length = strcspn(given, ":/?#[");
    if (given[length] != ':') {
        return false;
    }
    const char *after = given + length + 1;
    size_t digits = strspn(after, "0123456789");
    return !digits || (after[digits] && !strchr("/?#", after[digits]));
}

/* A host of this machine, where hardly anybody serves https. */
static bool is_loopback(const char *given)
{
    static const char *const HOSTS[] = {"localhost", "127.0.0.1", "[::1]"};
    size_t length = given[0] == '[' ? strcspn(given, "]") + 1 : strcspn(given, ":/?#");
    for (size_t i = 0; i < sizeof HOSTS / sizeof *HOSTS; i++) {
        if (strlen(HOSTS[i]) == length && strncasecmp(given, HOSTS[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* Whoever types "example.org" means the site, as in a browser; a file has a path, or the ending of
 * a document. */
static struct target find_target(struct arena *arena, const char *given)
{
    struct target target = {.given = given, .address = given};
    if (is_path(given)) {
        target.address = NULL;
    } else if (!has_scheme(given)) {
        target.guessed = true;
        target.address =
            arena_printf(arena, "%s://%s", is_loopback(given) ? "http" : "https", given);
    }
    return target;
}

static void add_addresses(struct tool_run *run)
{
    bool several = run->given->count > 1;
    yyjson_mut_val *list =
        several ? yyjson_mut_obj_add_arr(run->doc, run->parameters, "urls") : NULL;
    for (int i = 0; i < run->given->count; i++) {
        struct target target = find_target(call_arena(run->call), run->given->words[i]);
        if (several) {
            yyjson_mut_arr_add_str(run->doc, list, target.address);
        } else {
            json_add_string(run->doc, run->parameters, "url", target.address);
        }
    }
    if (option_given(run->given, "--all")) {
        json_add_string(run->doc, run->parameters, "content", "all");
    }
}

/* Says what was tried in place of what was given, and how a file is read. */
static void explain_target(const char *given)
{
    struct arena *arena = arena_new(KIB(64));
    struct target target = arena ? find_target(arena, given) : (struct target){0};
    if (target.guessed && target.address) {
        struct buf line;
        buf_init(&line, KIB(64));
        buf_printf(&line, "forage: \"%s\" was taken for %s", given, target.address);
        if (access(given, F_OK) == 0) {
            buf_printf(&line, "; there is a file of that name: forage read ./%s", given);
        }
        redact_buf(&line, 0, WORDS_OURS);
        fprintf(stderr, "%s\n", line.data ? line.data : "");
        buf_done(&line);
    }
    arena_free(arena);
}

/* ---- read: a file ---- */

/* Reads a file, or what there is of it when it is too large; a pipe may take its time. */
static int read_file(struct call *call, const char *path, struct buf *bytes)
{
    char piece[65536];
    ssize_t got = ERR_IO;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (got = read_waiting(call, fd, piece, sizeof piece)) > 0 &&
           buf_append(bytes, piece, (size_t)got) == OK) {
    }
    if (got == ERR_IO) {
        fprintf(stderr, "forage: %s: %s\n", path, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    return got < 0 ? (int)got : buf_error(bytes);
}

/* The part of the file that was asked for, as get_content describes it. */
static int read_part(struct tool_run *run, const struct buf *bytes)
{
    struct content content;
    int64_t start = 0, most = 0;
    option_number(run->given, "--start", &start);
    option_number(run->given, "--max-chars", &most);
    struct content_request request = {
        .url = run->given->words[0],
        .body = bytes->data ? bytes->data : "",
        .body_length = bytes->length,
        .start = (size_t)start,
        .max_chars = (size_t)most,
        .section = option_text(run->given, "--section"),
        .focus = option_text(run->given, "--focus"),
        .outline = option_given(run->given, "--outline"),
        .all = option_given(run->given, "--all"),
        .render = RENDER_NEVER,
    };
    int status = content_read(run->call, &request, &content);
    if (status != OK) {
        call_fail_status(run->call, status);
        return print_call_error(run->call);
    }
    run->result = content_describe(&content, run->doc, call_arena(run->call));
    int code = option_given(run->given, "--json")
                   ? print_json(call_arena(run->call), run->result, WORDS_FROM_OUTSIDE)
                   : print_page(run);
    return content.document.failed ? EXIT_FAILED : code;
}

static int run_on_file(struct app *app, struct call *call, void *context)
{
    (void)app;
    struct buf bytes;
    struct tool_run run = {.given = context, .call = call, .doc = json_new(call_arena(call))};
    const char *path = run.given->words[0];
    int code = EXIT_FAILED;
    buf_init(&bytes, LIMIT_PAGE_INPUT_BYTES);
    int status = read_file(call, path, &bytes);
    if (status == ERR_LIMIT) {
        fprintf(stderr,
                "forage: %s is larger than what is read of one page; this is its "
                "beginning\n",
                path);
    }
    if (run.doc && (status == OK || status == ERR_LIMIT)) {
        code = read_part(&run, &bytes);
    }
    buf_done(&bytes);
    return code;
}

static int command_read_file(const struct arguments *arguments)
{
    struct call_options options = run_options(NULL);
    struct arguments given = *arguments;
    options.takes_any_size = true;
    if (option_given(arguments, "--render")) {
        return usage_error("--render is for addresses; the scripts of a file do not run");
    }
    int code = load_configuration();
    log_quietly();
    return code == EXIT_OK ? run_in_app(&options, run_on_file, &given) : code;
}

int command_read(const struct arguments *arguments)
{
    static const struct tool_command COMMAND = {.tool = "get_content",
                                                .add = add_addresses,
                                                .print = print_pages,
                                                .fails = any_failed,
                                                .quiet = true,
                                                .takes_any_size = true};
    if (arguments->count == 1 && is_path(arguments->words[0])) {
        return command_read_file(arguments);
    }
    for (int i = 0; i < arguments->count; i++) {
        if (is_path(arguments->words[i])) {
            return usage_error("%s is a file, and a file is read by itself", arguments->words[i]);
        }
    }
    int code = run_tool_command(&COMMAND, arguments, NULL);
    for (int i = 0; i < arguments->count && code == EXIT_FAILED; i++) {
        explain_target(arguments->words[i]);
    }
    return code;
}

/* ---- answer: a short answer with its sources ---- */

/* The citation whose marker begins at a position of the text; NULL: none. */
static yyjson_mut_val *citation_at(yyjson_mut_val *citations, int64_t position)
{
    size_t index, most;
    yyjson_mut_val *citation;
    yyjson_mut_arr_foreach(citations, index, most, citation)
    {
        if (number_of(citation, "startIndex") == position &&
            number_of(citation, "endIndex") > position) {
            return citation;
        }
    }
    return NULL;
}

/* The text, with [1] in place of each marker. Characters that could disturb a terminal are left
 * out. */
static void put_text(struct buf *out, const char *text, yyjson_mut_val *citations)
{
    const char *end = text + strlen(text);
    int64_t position = 0;
    while (text < end) {
        yyjson_mut_val *citation = citation_at(citations, position);
        if (citation) {
            int64_t skipped = number_of(citation, "endIndex") - position;
            text += text_prefix(text, (size_t)(end - text), (size_t)skipped);
            position += skipped;
            buf_printf(out, "[%d]", (int)number_of(citation, "rank"));
            continue;
        }
        const char *start = text;
        uint32_t point = text_next(&text, end);
        bool control =
            (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7F && point < 0xA0);
        if (!control) {
            buf_append(out, start, (size_t)(text - start));
        }
        position++;
    }
}

static int print_answer(const struct tool_run *run)
{
    struct buf out;
    buf_init(&out, LIMIT_CALL_ARENA_BYTES);
    yyjson_mut_val *citations = yyjson_mut_obj_get(run->result, "citations");
    const char *text = text_of(run->result, "text");
    if (*text) {
        put_text(&out, text, citations);
        buf_puts(&out, "\n\n");
    }
    size_t index, most;
    yyjson_mut_val *citation;
    int64_t last = 0; /* the citations of one source stand together */
    yyjson_mut_arr_foreach(citations, index, most, citation)
    {
        const char *published = text_of(citation, "published");
        if (number_of(citation, "rank") == last) {
            continue;
        }
        last = number_of(citation, "rank");
        buf_printf(&out, "[%d] ", (int)number_of(citation, "rank"));
        put_text(&out, text_of(citation, "title"), NULL);
        buf_printf(&out, "%s%s%s\n    %s\n", *published ? " (" : "", published,
                   *published ? ")" : "", text_of(citation, "url"));
    }
    int code = print_buf(&out, WORDS_FROM_OUTSIDE);
    print_notes(yyjson_mut_obj_get(run->result, "notes"), "");
    return code;
}

static void add_answer_parameters(struct tool_run *run)
{
    yyjson_mut_obj_add_bool(run->doc, run->parameters, "includeAnswers",
                            !option_given(run->given, "--sources-only"));
    if (option_given(run->given, "--follow")) {
        add_follow(run, "search_web", "search_web");
    }
}

int command_answer(const struct arguments *arguments)
{
    static const char *const RENAMED[][2] = {{"--max", "maxResults"},
                                             {"--fresh", "freshnessHours"},
                                             {"--from", "start_date"},
                                             {"--to", "end_date"},
                                             {NULL}};
    static const struct tool_command COMMAND = {.tool = "search_web",
                                                .word = "query",
                                                .renamed = RENAMED,
                                                .add = add_answer_parameters,
                                                .print = print_answer,
                                                .quiet = true,
                                                .may_be_kept = true};
    return run_tool_command(&COMMAND, arguments, NULL);
}
