/* `forage setup [CLIENT]`: writes forage into the configuration of a client, after showing what
 * would change, and takes it out again. */
#include "cli/cli.h"
#include "cli/offer.h"
#include "cli/terminal.h"
#include "config/config.h"
#include "core/limits.h"
#include "core/redact.h"
#include "setup/clients.h"
#include "setup/diff.h"
#include "setup/entry.h"
#include "setup/files.h"
#include "setup/jsonc.h"
#include "setup/links.h"
#include "setup/page.h"
#include "setup/plan.h"
#include "setup/survey.h"
#include "setup/undo.h"
#include "text/text.h"
#include "websearch/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PROBLEM_SIZE (CLIENT_MOST_PATH + 256)

struct setup {
    const struct client *client;
    enum client_scope scope;
    const char *name;
    const struct link *link; /* to print, in place of changing a file */
    const char *command;
    const char *runner;
    const char *url;
    const char *token;
    const char *key_list;
    struct setup_keys keys;
    bool yes, undo, print, json, markdown, with_keys;
    bool open;    /* web search asks open sources */
    bool no_open; /* and nobody is asked whether it should */
    struct arena *arena;
    /* The file, and what would become of it. */
    char path[CLIENT_MOST_PATH];
    bool existed;
    struct buf before;
    struct buf after;
    bool remains;                   /* the file is there afterwards */
    struct undo record;             /* of the last change, so that it can be taken back */
    char removed[CLIENT_MOST_PATH]; /* the highest folder that went with the file, or "" */
    const char *change;             /* in one word */
    struct setup_entry entry;
    char problem[PROBLEM_SIZE];
};

/* ---- what was asked for ---- */

static void read_options(struct setup *setup, const struct arguments *arguments)
{
    const char *name = option_text(arguments, "--name");
    const char *scope = option_text(arguments, "--scope");
    setup->name = name ? name : "forage";
    setup->command = option_text(arguments, "--command");
    setup->runner = option_text(arguments, "--runner");
    setup->url = option_text(arguments, "--http");
    setup->token = option_text(arguments, "--token");
    setup->key_list = option_text(arguments, "--keys");
    setup->scope = scope && strcmp(scope, "project") == 0 ? SCOPE_PROJECT : SCOPE_USER;
    setup->yes = option_given(arguments, "--yes");
    setup->undo = option_given(arguments, "--undo");
    setup->print = option_given(arguments, "--print");
    setup->json = option_given(arguments, "--json");
    setup->markdown = option_given(arguments, "--markdown");
    setup->with_keys = option_given(arguments, "--with-keys");
    setup->open = option_given(arguments, "--open");
    setup->no_open = option_given(arguments, "--no-open");
}

static int read_link(struct setup *setup, const struct arguments *arguments, const char *id)
{
    char known[200];
    struct text_out out;
    setup->link = link_find(id);
    if (setup->link) {
        return arguments->count
                   ? usage_error("--link names the client: leave \"%s\" out", arguments->words[0])
                   : EXIT_OK;
    }
    text_start(&out, known, sizeof known);
    for (size_t i = 0; i < LINK_COUNT; i++) {
        text_putf(&out, "%s%s", i ? ", " : "", LINKS[i].id);
    }
    return usage_error("there is no link for \"%s\"; there are links for %s", id, known);
}

static int read_client(struct setup *setup, const struct arguments *arguments)
{
    struct text_guess guess;
    const char *link = option_text(arguments, "--link");
    const char *id = arguments->count ? arguments->words[0] : NULL;
    if (link) {
        return read_link(setup, arguments, link);
    }
    setup->client = id ? client_find(id) : NULL;
    if (!id || setup->client) {
        return EXIT_OK;
    }
    text_guess_start(&guess, id, strlen(id));
    for (size_t i = 0; i < CLIENT_COUNT; i++) {
        text_guess_try(&guess, CLIENTS[i].id, strlen(CLIENTS[i].id));
    }
    if (guess.best) {
        return usage_error("there is no client \"%s\"; did you mean %s?", id, guess.best);
    }
    return usage_error("there is no client \"%s\"; `forage setup` lists those that there are", id);
}

/* A name that needs no quotes in any of the files. */
static bool is_good_name(const char *name)
{
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t length = strlen(name);
    return length > 0 && length <= 64 && strspn(name, GOOD) == length;
}

static int check_words(const struct setup *setup)
{
    if (!is_good_name(setup->name)) {
        return usage_error("--name takes letters, digits, - and _, at most 64");
    }
    if (setup->url && strncmp(setup->url, "http://", 7) != 0 &&
        strncmp(setup->url, "https://", 8) != 0) {
        return usage_error("--http takes a URL that begins with http:// or https://");
    }
    if (setup->url && (setup->command || setup->key_list || setup->open)) {
        return usage_error("--http names a server that runs already: no --command, no --keys, no "
                           "--open");
    }
    if (setup->runner && (setup->url || setup->command)) {
        return usage_error("--runner starts a package: no --command, no --http");
    }
    if (setup->link && (setup->key_list || setup->with_keys || setup->token || setup->open ||
                        setup->undo || setup->print || setup->yes)) {
        return usage_error("--link prints a link, for everybody to read: only --name, --command, "
                           "--runner, --http and --json go with it");
    }
    if (setup->open && setup->no_open) {
        return usage_error("--open and --no-open exclude each other");
    }
    if (setup->token && (!setup->url || !is_good_name(setup->token))) {
        return usage_error("--token names the variable that holds the token for --http");
    }
    if (setup->client && setup->scope == SCOPE_PROJECT && !setup->client->project) {
        return usage_error("%s has no configuration of projects", setup->client->title);
    }
    if (setup->scope == SCOPE_PROJECT && setup->with_keys) {
        return usage_error("a project's file is for everybody who has the project: leave "
                           "--with-keys out, and put keys into ~/.config/forage/forage.env");
    }
    if (setup->print && setup->with_keys) {
        return usage_error("--print prints no keys: leave --with-keys out");
    }
    if (setup->print + setup->undo + setup->markdown > 1) {
        return usage_error("--print, --undo and --markdown exclude each other");
    }
    return EXIT_OK;
}

/* ---- the list ---- */

static void list_for_people(struct buf *out, const struct setup_state *states, int count)
{
    for (int i = 0; i < count; i++) {
        const struct setup_state *state = &states[i];
        const char *word = state->problem[0]   ? "its file cannot be read"
                           : state->configured ? "has forage"
                           : state->found      ? "found"
                                               : "not found";
        buf_printf(out, "%-15s %-18s %-12s %s\n", state->id, state->title, word,
                   state->problem[0]   ? state->problem
                   : state->configured ? state->command
                                       : state->path);
    }
    buf_puts(out, "\nforage setup CLIENT     shows the change, asks, and writes it\n"
                  "forage setup CLIENT --print | --undo | --help\n"
                  "forage setup --link CLIENT\n");
}

static int list_as_json(const struct setup_state *states, int count)
{
    struct arena *arena = arena_new(MIB(1));
    yyjson_mut_doc *doc = arena ? json_new(arena) : NULL;
    yyjson_mut_val *list = doc ? yyjson_mut_arr(doc) : NULL;
    for (int i = 0; list && i < count; i++) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, one, "id", states[i].id);
        json_add_string(doc, one, "title", states[i].title);
        json_add_string(doc, one, "path", states[i].path);
        yyjson_mut_obj_add_bool(doc, one, "found", states[i].found);
        yyjson_mut_obj_add_bool(doc, one, "configured", states[i].configured);
        json_add_string(doc, one, "command", states[i].command[0] ? states[i].command : NULL);
        json_add_string(doc, one, "problem", states[i].problem[0] ? states[i].problem : NULL);
    }
    int code = arena ? print_json(arena, list, WORDS_OURS) : EXIT_FAILED;
    arena_free(arena);
    return code;
}

static int list_clients(const struct setup *setup)
{
    static struct setup_state states[SETUP_MOST_CLIENTS];
    struct buf out;
    int count = setup->markdown ? 0 : setup_survey(states);
    if (count < 0) {
        fputs("forage: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    if (setup->json && !setup->markdown) {
        return list_as_json(states, count);
    }
    buf_init(&out, MIB(1));
    if (setup->markdown) {
        page_put_index(&out);
    } else {
        list_for_people(&out, states, count);
    }
    return print_buf(&out, WORDS_OURS);
}

/* ---- saying how it went ---- */

static int fail(const struct setup *setup)
{
    fprintf(stderr, "forage: %s\n", setup->problem);
    return EXIT_FAILED;
}

/* The words for what a plan found wrong in the file. */
static int fail_plan(struct setup *setup, int status, const struct document_problem *problem)
{
    fprintf(stderr, "forage: %s", setup->path);
    if (status == ERR_INVALID || status == ERR_UNSUPPORTED) {
        fprintf(stderr, ":%zu:%zu: %s", problem->line, problem->column, problem->text);
    } else {
        fprintf(stderr, ": %s", status_name(status));
    }
    fputs("; nothing was changed\n", stderr);
    if (status == ERR_UNSUPPORTED) {
        fprintf(stderr, "`forage setup %s --print` prints what to put there by hand.\n",
                setup->client->id);
    }
    return EXIT_FAILED;
}

static int tell_as_json(struct setup *setup, bool written)
{
    struct buf diff;
    struct buf snippet;
    yyjson_mut_doc *doc = json_new(setup->arena);
    yyjson_mut_val *result = doc ? yyjson_mut_obj(doc) : NULL;
    buf_init(&diff, LIMIT_SETUP_FILE_BYTES);
    buf_init(&snippet, LIMIT_SETUP_ENTRY_BYTES);
    diff_put(&diff, setup->path, &setup->before, setup->existed, &setup->after, setup->remains);
    json_add_string(doc, result, "client", setup->client->id);
    json_add_string(doc, result, "path", setup->path);
    json_add_string(doc, result, "name", setup->name);
    json_add_string(doc, result, "change", setup->change);
    yyjson_mut_obj_add_bool(doc, result, "written", written);
    json_add_string(doc, result, "diff", diff.length ? diff.data : NULL);
    if (!setup->undo && !setup->with_keys) {
        plan_put_snippet(&snippet, setup->client, setup->name, &setup->entry);
        json_add_string(doc, result, "snippet", snippet.data);
    }
    json_add_string(doc, result, "backup",
                    written && !setup->undo && setup->record.existed ? setup->record.backup : NULL);
    int code = print_json(setup->arena, result, WORDS_OURS);
    buf_done(&diff);
    buf_done(&snippet);
    return code;
}

/* Lines that come and go, as other programs show them. */
static void put_coloured(struct buf *out, const char *diff)
{
    while (*diff) {
        size_t length = strcspn(diff, "\n");
        enum terminal_style style = *diff == '+'   ? STYLE_FINE
                                    : *diff == '-' ? STYLE_WRONG
                                                   : STYLE_PLAIN;
        bool plain = style == STYLE_PLAIN;
        buf_puts(out, plain ? "" : terminal_style(stdout, style));
        buf_append(out, diff, length);
        buf_puts(out, plain ? "" : terminal_style(stdout, STYLE_PLAIN));
        diff += length;
        if (*diff) {
            buf_putc(out, *diff++);
        }
    }
}

static int show_change(struct setup *setup)
{
    struct buf diff;
    struct buf out;
    buf_init(&diff, LIMIT_SETUP_FILE_BYTES);
    buf_init(&out, 2 * LIMIT_SETUP_FILE_BYTES);
    diff_put(&diff, setup->path, &setup->before, setup->existed, &setup->after, setup->remains);
    put_coloured(&out, diff.data ? diff.data : "");
    buf_done(&diff);
    return print_buf(&out, WORDS_OURS);
}

/* Whether web search could not work with this entry: forage has no provider here, none of the keys
 * that it will get is of one, and the file says nothing of it. */
static bool lacks_provider(const struct setup *setup)
{
    for (size_t i = 0; i < setup->keys.count; i++) {
        for (size_t j = 0; PROVIDERS[j]; j++) {
            const struct provider *provider = PROVIDERS[j];
            const char *needed =
                provider->key_variable ? provider->key_variable : provider->base_variable;
            if (strcmp(setup->keys.names[i], needed) == 0) {
                return false;
            }
        }
    }
    bool decided = setup->before.data && strstr(setup->before.data, "FORAGE_SEARCH_PROVIDERS");
    return !setup->url && !decided && offer_makes_sense();
}

/* What a person has to know about the keys. */
static void tell_keys(const struct setup *setup)
{
    const char *title = setup->client->title;
    bool needs_file = setup->client->reference == REFERENCE_NONE && !setup->with_keys;
    if (setup->url) {
        return;
    }
    if (setup->open) {
        puts("Web search asks open sources, which need no key.");
    } else if (lacks_provider(setup)) {
        printf("Web search has no provider; `forage setup %s --open` lets it ask sources that need "
               "no key.\n",
               setup->client->id);
    }
    if (setup->keys.count == 0) {
        puts("No key is in it, since none is set here; put keys into ~/.config/forage/forage.env, "
             "which forage reads whoever starts it.");
    } else if (needs_file) {
        printf("%s cannot refer to variables: put these into ~/.config/forage/forage.env, or use "
               "--with-keys:",
               title);
        for (size_t i = 0; i < setup->keys.count; i++) {
            printf(" %s", setup->keys.names[i]);
        }
        putchar('\n');
    } else if (setup->with_keys) {
        puts("The values of keys are in the file now, which only you can read.");
    }
}

/* A file of a project is read on other machines too. */
static void tell_path(const struct setup *setup)
{
    const struct entry_member *command = entry_member(&setup->entry, "command");
    if (setup->scope == SCOPE_PROJECT && command && command->values[0][0] == '/') {
        puts("The path of the program is that of this machine; `--command forage` is for all.");
    }
}

/* ---- asking ---- */

/* Whether it may be written; what there is to say has been said. */
static bool is_confirmed(struct setup *setup)
{
    if (setup->yes) {
        return true;
    }
    if (!terminal_can_ask()) {
        puts("\nNothing was written: there is no terminal to ask on. --yes writes it.");
        return false;
    }
    if (!terminal_ask("\nWrite this? [y/N] ")) {
        puts("Nothing was written.");
        return false;
    }
    return true;
}

/* Offers what makes web search work without a key; for oneself alone, not for all of a project. */
static void ask_for_open(struct setup *setup)
{
    bool answered = setup->open || setup->no_open || setup->yes || setup->json;
    bool may_ask = !answered && setup->scope == SCOPE_USER;
    if (may_ask && terminal_can_ask() && lacks_provider(setup)) {
        setup->open = offer_ask("Let web search use them? FORAGE_SEARCH_PROVIDERS=" OPEN_GROUP
                                " goes into the entry.");
    }
}

/* ---- the file ---- */

static int read_file(struct setup *setup)
{
    int status = client_path(setup->client, setup->scope, setup->path);
    if (status != OK) {
        fputs("forage: there is no home folder, or its path is too long\n", stderr);
        return EXIT_FAILED;
    }
    status = files_read(setup->path, &setup->before, setup->problem, sizeof setup->problem);
    setup->existed = status == OK;
    if (status != OK && status != ERR_NOTFOUND) {
        return fail(setup);
    }
    status = undo_open(&setup->record, setup->arena, setup->path, setup->name, &setup->before,
                       setup->problem, sizeof setup->problem);
    return status == OK ? EXIT_OK : fail(setup);
}

static struct plan_file plan_file_of(const struct setup *setup, const struct buf *text)
{
    return (struct plan_file){setup->client, setup->name, text->data ? text->data : "",
                              text->length};
}

/* A file of the user's own is private; one of a project is for everybody who has the project. */
static mode_t mode_of_new(const struct setup *setup)
{
    mode_t mask = umask(0);
    umask(mask);
    return setup->scope == SCOPE_USER ? 0600 : 0666 & ~mask;
}

/* Records how to take it back. Where the entry is an earlier one of ours, in a file that somebody
 * has changed since, that is the file without it. */
static int record_change(struct setup *setup)
{
    struct buf without;
    struct document_problem ignored;
    struct plan_file file = plan_file_of(setup, &setup->before);
    const struct buf *before = setup->existed ? &setup->before : NULL;
    buf_init(&without, LIMIT_SETUP_FILE_BYTES);
    if (before && setup->record.is_there && !setup->record.is_current &&
        plan_remove(setup->arena, &file, false, &without, &ignored) == OK) {
        before = &without;
    }
    int status = undo_keep(&setup->record, setup->arena, setup->path, before, &setup->after,
                           setup->problem, sizeof setup->problem);
    buf_done(&without);
    return status;
}

/* A file that holds the values of keys is for its owner alone, and is so before they are in it. */
static int protect_keys(struct setup *setup)
{
    return setup->with_keys && setup->existed && !setup->undo
               ? files_make_private(setup->path, setup->problem, sizeof setup->problem)
               : OK;
}

static int write_file(struct setup *setup)
{
    const struct buf *before = setup->existed ? &setup->before : NULL;
    char *problem = setup->problem;
    size_t size = sizeof setup->problem;
    int status = protect_keys(setup);
    if (status == OK && !setup->undo) {
        status = record_change(setup);
    }
    if (status == OK) {
        status = setup->remains ? files_write(setup->path, &setup->after, before,
                                              mode_of_new(setup), problem, size)
                                : files_remove(setup->path, before, problem, size);
    }
    if (status == OK && setup->undo) {
        undo_delete(&setup->record);
    }
    if (status == OK && !setup->remains) {
        files_remove_folders(setup->path, setup->record.made, setup->removed,
                             sizeof setup->removed);
    }
    return status == OK ? EXIT_OK : fail(setup);
}

/* Shows the change, asks, writes it and tells. */
static int carry_out(struct setup *setup)
{
    if (setup->json) {
        int code = setup->yes ? write_file(setup) : EXIT_OK;
        return code == EXIT_OK ? tell_as_json(setup, setup->yes) : code;
    }
    int code = show_change(setup);
    if (code != EXIT_OK || !is_confirmed(setup)) {
        return EXIT_FAILED;
    }
    return write_file(setup);
}

/* ---- setting up ---- */

static void warn_if_not_found(const struct setup *setup)
{
    if (setup->scope == SCOPE_USER && !client_is_found(setup->client)) {
        fprintf(stderr, "forage: %s does not seem to be installed here\n", setup->client->title);
    }
}

/* A client that reads plain JSON would not get through what comes with comments. */
static void warn_about_comments(const struct setup *setup)
{
    struct document_problem problem;
    const char *text = setup->before.data ? setup->before.data : "";
    if (setup->client->format == CLIENT_JSON &&
        jsonc_is_extended(text, setup->before.length, &problem)) {
        fprintf(stderr, "forage: %s:%zu:%zu: %s, which %s may not understand\n", setup->path,
                problem.line, problem.column, problem.text, setup->client->title);
    }
}

static int make_entry(struct setup *setup)
{
    struct entry_request request = {.url = setup->url,
                                    .token = setup->token,
                                    .keys = setup->keys.names,
                                    .key_count = setup->keys.count,
                                    .tools = config_is_set("FORAGE_TOOLS") ? NULL : "ready",
                                    .providers = setup->open ? OPEN_GROUP : NULL,
                                    .with_values = setup->with_keys};
    int status = setup->runner
                     ? launch_by_runner(setup->runner, setup->client->id, &request.launch)
                     : launch_choose(setup->arena, setup->command, setup->client->absolute,
                                     setup->client->id, &request.launch);
    if (status != OK) {
        fputs("forage: this program's own path is not known; name it with --command\n", stderr);
        return EXIT_FAILED;
    }
    status = entry_make(setup->arena, setup->client, &request, &setup->entry, setup->problem,
                        sizeof setup->problem);
    return status == OK ? EXIT_OK : status == ERR_UNSUPPORTED ? fail(setup) : EXIT_FAILED;
}

static int set_up(struct setup *setup)
{
    static const char *const WORDS[] = {
        [PLAN_SAME] = "same", [PLAN_ADDED] = "added", [PLAN_CHANGED] = "changed"};
    struct document_problem problem = {0};
    enum plan_change change = PLAN_SAME;
    struct plan_file file = plan_file_of(setup, &setup->before);
    if (setup->with_keys &&
        files_check_for_keys(setup->path, setup->problem, sizeof setup->problem) != OK) {
        return fail(setup);
    }
    ask_for_open(setup);
    int code = make_entry(setup);
    if (code != EXIT_OK) {
        return code;
    }
    int status = plan_add(setup->arena, &file, &setup->entry, &setup->after, &change, &problem);
    if (status != OK) {
        return fail_plan(setup, status, &problem);
    }
    setup->remains = true;
    setup->change = WORDS[change];
    warn_about_comments(setup);
    warn_if_not_found(setup);
    if (change == PLAN_SAME) {
        if (protect_keys(setup) != OK) {
            return fail(setup);
        }
        if (setup->json) {
            return tell_as_json(setup, false);
        }
        printf("%s has forage already: %s\n", setup->client->title, setup->path);
        return EXIT_OK;
    }
    code = carry_out(setup);
    if (code == EXIT_OK && !setup->json) {
        printf("%s %s.\n", change == PLAN_ADDED ? "Written:" : "Updated:", setup->path);
        if (setup->record.existed) {
            printf("As it was before: %s\n", setup->record.backup);
        }
        tell_keys(setup);
        tell_path(setup);
        printf("%s\n`forage setup %s --undo` takes it back.\n", setup->client->then,
               setup->client->id);
    }
    return code;
}

/* ---- taking back ---- */

/* What the file should be: what it was before, or, where somebody else has changed it since, what
 * it is without our entry. */
static int plan_undo(struct setup *setup, struct document_problem *problem)
{
    struct plan_file file = plan_file_of(setup, &setup->before);
    if (setup->record.is_current) {
        setup->change = "restored";
        setup->remains = setup->record.existed;
        return buf_append(&setup->after, setup->record.before.data, setup->record.before.length);
    }
    struct plan_file earlier = plan_file_of(setup, &setup->record.before);
    bool made_servers = setup->record.is_there && !plan_has_servers(&earlier);
    setup->change = "removed";
    setup->remains = true;
    return plan_remove(setup->arena, &file, made_servers, &setup->after, problem);
}

static int take_back(struct setup *setup)
{
    struct document_problem problem = {0};
    int status = setup->existed ? plan_undo(setup, &problem) : ERR_NOTFOUND;
    if (status == ERR_NOTFOUND) {
        setup->change = "none";
        setup->existed = setup->remains = false;
        if (setup->json) {
            return tell_as_json(setup, false);
        }
        printf("There is nothing to take back: %s has no %s in it.\n", setup->path, setup->name);
        return EXIT_OK;
    }
    if (status != OK) {
        return fail_plan(setup, status, &problem);
    }
    int code = carry_out(setup);
    if (code == EXIT_OK && !setup->json) {
        printf("%s: %s%s%s\n",
               !setup->remains            ? "Taken away again"
               : setup->record.is_current ? "As it was before"
                                          : "Without forage's entry now",
               setup->path, setup->removed[0] ? ", and the folder " : "", setup->removed);
    }
    return code;
}

/* ---- the link ---- */

/* Whoever follows a link has no forage yet, most often: unless told otherwise it names what brings
 * the package. Nothing of this machine is in it, so that it is the same wherever it is made. */
static int make_link(struct setup *setup, struct buf *address, struct buf *page)
{
    struct entry_request request = {.url = setup->url, .tools = "ready"};
    const char *runner = setup->runner ? setup->runner : "npx";
    int status = setup->command ? launch_choose(setup->arena, setup->command, false,
                                                setup->link->context, &request.launch)
                                : launch_by_runner(runner, setup->link->context, &request.launch);
    if (status == OK) {
        status = link_put(setup->arena, setup->link, setup->name, &request, address, page,
                          setup->problem, sizeof setup->problem);
    }
    return status == OK ? EXIT_OK : status == ERR_UNSUPPORTED ? fail(setup) : EXIT_FAILED;
}

static int print_link(struct setup *setup)
{
    struct buf address;
    struct buf page;
    buf_init(&address, LIMIT_SETUP_ENTRY_BYTES);
    buf_init(&page, LIMIT_SETUP_ENTRY_BYTES);
    int code = make_link(setup, &address, &page);
    if (code == EXIT_OK && setup->json) {
        yyjson_mut_doc *doc = json_new(setup->arena);
        yyjson_mut_val *result = doc ? yyjson_mut_obj(doc) : NULL;
        json_add_string(doc, result, "client", setup->link->id);
        json_add_string(doc, result, "title", setup->link->title);
        json_add_string(doc, result, "link", address.data);
        json_add_string(doc, result, "page", page.data);
        code = print_json(setup->arena, result, WORDS_OURS);
    } else if (code == EXIT_OK) {
        printf("%s\n%s\n", address.data, page.data);
    }
    buf_done(&address);
    buf_done(&page);
    return code;
}

/* ---- the command ---- */

static int print_snippet(struct setup *setup)
{
    struct buf out;
    int code = make_entry(setup);
    if (code != EXIT_OK) {
        return code;
    }
    if (client_path(setup->client, setup->scope, setup->path) != OK) {
        snprintf(setup->path, sizeof setup->path, "%s", setup->client->user[PLATFORM_LINUX]);
    }
    if (setup->json) {
        setup->change = "none";
        return tell_as_json(setup, false);
    }
    buf_init(&out, LIMIT_SETUP_ENTRY_BYTES);
    plan_put_snippet(&out, setup->client, setup->name, &setup->entry);
    /* The path goes beside it, so that what is printed can be put into a file as it is. */
    fprintf(stderr, "%s\n", setup->path);
    return print_buf(&out, WORDS_OURS);
}

static int print_page(struct setup *setup)
{
    struct buf out;
    buf_init(&out, MIB(1));
    if (page_put_client(setup->arena, &out, setup->client) != OK) {
        buf_done(&out);
        return EXIT_FAILED;
    }
    return print_buf(&out, WORDS_OURS);
}

static int run(struct setup *setup)
{
    if (setup->link) {
        return print_link(setup);
    }
    if (setup->markdown) {
        return print_page(setup);
    }
    if (!setup->key_list) {
        keys_from_environment(&setup->keys);
    } else if (keys_parse(&setup->keys, setup->key_list, setup->problem, sizeof setup->problem) !=
               OK) {
        return usage_error("%s", setup->problem);
    }
    /* Also so that what is printed is redacted. */
    int code = load_configuration();
    if (code == EXIT_OK && setup->print) {
        return print_snippet(setup);
    }
    if (code == EXIT_OK) {
        code = read_file(setup);
    }
    if (code == EXIT_OK) {
        code = setup->undo ? take_back(setup) : set_up(setup);
    }
    undo_close(&setup->record);
    return code;
}

int command_setup(const struct arguments *arguments)
{
    static struct setup setup;
    setup = (struct setup){0};
    read_options(&setup, arguments);
    int code = read_client(&setup, arguments);
    if (code == EXIT_OK) {
        code = check_words(&setup);
    }
    if (code != EXIT_OK || (!setup.client && !setup.link)) {
        return code == EXIT_OK ? list_clients(&setup) : code;
    }
    setup.arena = arena_new(8 * LIMIT_SETUP_FILE_BYTES);
    if (!setup.arena) {
        return EXIT_FAILED;
    }
    buf_init(&setup.before, LIMIT_SETUP_FILE_BYTES);
    buf_init(&setup.after, LIMIT_SETUP_FILE_BYTES + LIMIT_SETUP_ENTRY_BYTES);
    code = run(&setup);
    buf_done(&setup.before);
    buf_done(&setup.after);
    arena_free(setup.arena);
    return code;
}
