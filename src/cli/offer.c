/* Asks whether open search may be used, and remembers a yes in the settings file: there it holds
 * for clients too, and its owner sees and changes it as every other setting. */
#include "cli/offer.h"

#include "cli/cli.h"
#include "cli/terminal.h"
#include "config/config.h"
#include "core/limits.h"
#include "core/redact.h"
#include "core/status.h"
#include "setup/files.h"
#include "websearch/open/services.h"

#include <stdio.h>
#include <stdlib.h>

#define VARIABLE "FORAGE_SEARCH_PROVIDERS"
#define INDENT   2

bool offer_makes_sense(void)
{
    const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1];
    const char *unknown;
    return !config_is_set(VARIABLE) && providers_chosen(chosen, &unknown) == OK && !chosen[0];
}

static void put_line(struct buf *out, const char *words)
{
    buf_printf(out, "%*s", INDENT, "");
    terminal_put_wrapped(out, INDENT, INDENT, terminal_width(stdout), words);
}

bool offer_ask(const char *question)
{
    char words[KIB(2)];
    struct text_out line;
    struct buf out;
    buf_init(&out, KIB(64));
    terminal_put_wrapped(&out, 0, 0, terminal_width(stdout),
                         "No search provider has a key here. Open sources need none: the words of "
                         "a search, and the address of this machine, then go to a few of these "
                         "services.");
    for (enum search_type type = SEARCH_WEB; type < SEARCH_TYPES; type++) {
        text_start(&line, words, sizeof words);
        if (services_put(&line, "", OPEN_SOURCES, type)) {
            put_line(&out, words);
        }
    }
    text_start(&line, words, sizeof words);
    if (services_put_unheard(&line, "where FORAGE_CONTACT is set: ", OPEN_SOURCES)) {
        put_line(&out, words);
    }
    if (print_buf(&out, WORDS_OURS) != EXIT_OK) {
        return false;
    }
    return terminal_ask("%s [y/N] ", question);
}

/* Puts the setting at the end of the file, which is made where there is none. */
static int remember(const char *path, char *problem, size_t size)
{
    struct buf before;
    struct buf after;
    buf_init(&before, LIMIT_CONFIG_FILE_BYTES);
    buf_init(&after, LIMIT_CONFIG_FILE_BYTES);
    int status = files_read(path, &before, problem, size);
    bool existed = status == OK;
    if (existed || status == ERR_NOTFOUND) {
        buf_append(&after, before.data, before.length);
        if (before.length && before.data[before.length - 1] != '\n') {
            buf_putc(&after, '\n');
        }
        buf_puts(&after, VARIABLE "=" OPEN_GROUP "\n");
        status = buf_error(&after);
        snprintf(problem, size, "%s", status == OK ? "" : status_name(status));
    }
    if (status == OK) {
        status = files_write(path, &after, existed ? &before : NULL, 0600, problem, size);
    }
    buf_done(&before);
    buf_done(&after);
    return status;
}

static void take_yes(const char *path)
{
    char problem[512] = "there is no home folder";
    if (path && remember(path, problem, sizeof problem) == OK) {
        printf("Written: " VARIABLE "=" OPEN_GROUP " in %s.\n\n", path);
        return;
    }
    fprintf(stderr, "forage: the answer holds for this search alone: %s\n", problem);
    (void)setenv(VARIABLE, OPEN_GROUP, 1);
}

void offer_before_search(void)
{
    struct buf problem;
    if (!terminal_can_ask()) {
        return;
    }
    buf_init(&problem, KIB(64));
    /* What is wrong with the configuration is told when it is loaded for the search. */
    if (read_configuration(&problem) == EXIT_OK && offer_makes_sense() &&
        offer_ask("Use them from now on, also where clients search with forage?")) {
        take_yes(config_file_place());
    }
    buf_done(&problem);
}
