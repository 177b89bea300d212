/* `forage doctor`: what works here and what does not, for people and as JSON. */
#include "doctor/doctor.h"

#include "browser/browser.h"
#include "call/parts.h"
#include "call/pool.h"
#include "call/side.h"
#include "cli/cli.h"
#include "cli/terminal.h"
#include "cli/tool_command.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/log.h"

#include <stdio.h>
#include <string.h>

/* The states of a check, in the order in which the last line counts them. */
static const struct {
    const char *state;
    enum terminal_style style;
    const char *counted; /* in the last line; NULL: it is not */
} STATES[] = {
    {"ok", STYLE_FINE, "ok"},
    {"missing", STYLE_FAINT, "missing"},
    {"warning", STYLE_WARNING, "to look at"},
    {"broken", STYLE_WRONG, "broken"},
    {"unused", STYLE_FAINT, NULL},
};

#define STATE_COUNT (sizeof STATES / sizeof *STATES)

/* Appends a check; which of the states it is in. */
static size_t put_check(struct buf *out, yyjson_mut_val *check)
{
    size_t state = 0;
    while (state < STATE_COUNT - 1 && strcmp(STATES[state].state, text_of(check, "state")) != 0) {
        state++;
    }
    buf_printf(out, "  %s%-8s%s %s: %s\n", terminal_style(stdout, STATES[state].style),
               STATES[state].state, terminal_style(stdout, STYLE_PLAIN), text_of(check, "title"),
               text_of(check, "text"));
    if (*text_of(check, "mend")) {
        buf_printf(out, "           $ %s\n", text_of(check, "mend"));
    }
    return state;
}

static int print_report(yyjson_mut_val *report)
{
    struct buf out;
    size_t counts[STATE_COUNT] = {0};
    size_t at, most, index, max;
    yyjson_mut_val *group, *check;
    buf_init(&out, MIB(1));
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(report, "groups"), at, most, group)
    {
        buf_printf(&out, "%s%s: %s%s\n", terminal_style(stdout, STYLE_HEADING),
                   text_of(group, "title"), text_of(group, "state"),
                   terminal_style(stdout, STYLE_PLAIN));
        yyjson_mut_arr_foreach(yyjson_mut_obj_get(group, "checks"), index, max, check)
        {
            counts[put_check(&out, check)]++;
        }
        buf_putc(&out, '\n');
    }
    for (size_t i = 0; i < STATE_COUNT && STATES[i].counted; i++) {
        buf_printf(&out, "%s%zu %s", i ? ", " : "", counts[i], STATES[i].counted);
    }
    bool online = yyjson_mut_get_bool(yyjson_mut_obj_get(report, "online"));
    buf_printf(&out, ".%s\n", online ? "" : " `forage doctor --online` tries the keys.");
    return print_buf(&out, WORDS_OURS);
}

struct examination {
    struct doctor_options options;
    bool json;
};

static int examine(struct app *app, struct call *call, void *context)
{
    (void)app;
    const struct examination *examination = context;
    yyjson_mut_doc *doc = json_new(call_arena(call));
    terminal_progress("looking at %zu things", doctor_check_count());
    yyjson_mut_val *report = doc ? doctor_examine(call, &examination->options, doc) : NULL;
    terminal_progress_end();
    if (!report) {
        fputs("forage: the examination was given up\n", stderr);
        return EXIT_FAILED;
    }
    int code =
        examination->json ? print_json(call_arena(call), report, WORDS_OURS) : print_report(report);
    bool well = yyjson_mut_get_bool(yyjson_mut_obj_get(report, "ok"));
    return code == EXIT_OK && !well ? EXIT_FAILED : code;
}

/* Ends everything that the checks may have started, where there is no program to end it. */
static void end_all(struct parts *parts)
{
    pool_free(parts->side_threads);
    browser_free(parts->browser);
}

int command_doctor(const struct arguments *arguments)
{
    struct buf page;
    if (option_given(arguments, "--markdown")) {
        buf_init(&page, KIB(64));
        doctor_write_markdown(&page);
        return print_buf(&page, WORDS_OURS);
    }
    struct examination examination = {.options.online = option_given(arguments, "--online"),
                                      .json = option_given(arguments, "--json")};
    struct call_options options = run_options(NULL);
    struct buf refused;
    char failed[512] = "";
    options.timeout_ms = TIME_DOCTOR_MS;
    buf_init(&refused, KIB(64));
    if (read_configuration(&refused) != EXIT_OK) {
        examination.options.refused = refused.data ? refused.data : "the settings cannot be loaded";
    }
    log_set_level(LOG_LEVEL_ERROR); /* the checks report what is wrong */
    int signals = signals_open();
    struct app_options app_options = {.name = "forage", .title = "forage"};
    struct app *app =
        examination.options.refused ? NULL : app_new(&app_options, failed, sizeof failed);
    if (!examination.options.refused && !app) {
        examination.options.failed = failed;
    }
    struct parts parts = {
        .side_threads = app ? NULL : side_pool_new(NULL),
        .browser = examination.options.failed ? browser_new(NULL, NULL, NULL) : NULL,
    };
    options.parts = &parts;
    int code = run_call(app, signals, &options, examine, &examination);
    if (!app) {
        end_all(&parts);
    }
    buf_done(&refused);
    return code;
}
