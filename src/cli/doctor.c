/* `forage doctor`: what works here and what does not, for people and as JSON. */
#include "doctor/doctor.h"

#include "call/parts.h"
#include "call/pool.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "cli/terminal.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/log.h"
#include "page/browser/browser.h"

#include <stdio.h>
#include <string.h>

static enum terminal_style style_of(enum finding_state state)
{
    static const enum terminal_style STYLES[FINDING_STATES] = {
        [FINDING_OK] = STYLE_FINE,         [FINDING_MISSING] = STYLE_FAINT,
        [FINDING_WARNING] = STYLE_WARNING, [FINDING_BROKEN] = STYLE_WRONG,
        [FINDING_UNUSED] = STYLE_FAINT,
    };
    return STYLES[state];
}

static void put_check(struct buf *out, const struct doctor *doctor, size_t index)
{
    const struct finding *finding = doctor_finding(doctor, index);
    buf_printf(out, "  %s%-8s%s %s: %s\n", terminal_style(stdout, style_of(finding->state)),
               doctor_state_word(finding->state), terminal_style(stdout, STYLE_PLAIN),
               doctor_check_title(index), finding->text);
    if (*finding->mend) {
        buf_printf(out, "           $ %s\n", finding->mend);
    }
}

static void put_group(struct buf *out, const struct doctor *doctor, enum doctor_group group)
{
    bool first = true;
    for (size_t i = 0; i < doctor_check_count(doctor); i++) {
        if (doctor_check_group(i) != group) {
            continue;
        }
        if (first) {
            buf_printf(out, "%s%s: %s%s\n", terminal_style(stdout, STYLE_HEADING),
                       doctor_group_title(group),
                       doctor_group_word(doctor_group_state(doctor, group)),
                       terminal_style(stdout, STYLE_PLAIN));
        }
        first = false;
        put_check(out, doctor, i);
    }
    buf_puts(out, first ? "" : "\n");
}

static int print_report(const struct doctor *doctor, bool online)
{
    struct buf out;
    buf_init(&out, MIB(1));
    for (int group = 0; group < DOCTOR_GROUPS; group++) {
        put_group(&out, doctor, (enum doctor_group)group);
    }
    buf_printf(&out, "%zu ok, %zu missing, %zu to look at, %zu broken.%s\n",
               doctor_count(doctor, FINDING_OK), doctor_count(doctor, FINDING_MISSING),
               doctor_count(doctor, FINDING_WARNING), doctor_count(doctor, FINDING_BROKEN),
               online ? "" : " `forage doctor --online` tries the keys.");
    int code = print_buf(&out);
    buf_done(&out);
    return code;
}

struct examination {
    struct doctor_options options;
    bool json;
};

static int examine(struct app *app, struct call *call, void *context)
{
    (void)app;
    const struct examination *examination = context;
    terminal_progress("looking at %zu things", doctor_check_count(NULL));
    struct doctor *doctor = doctor_run(call, &examination->options);
    terminal_progress_end();
    if (!doctor) {
        fputs("forage: the examination was given up\n", stderr);
        return EXIT_FAILED;
    }
    yyjson_mut_doc *doc = examination->json ? json_new(call_arena(call)) : NULL;
    int code = doc                 ? print_json(call_arena(call), doctor_describe(doctor, doc))
               : examination->json ? EXIT_FAILED
                                   : print_report(doctor, examination->options.online);
    code = code == EXIT_OK && !doctor_is_well(doctor) ? EXIT_FAILED : code;
    doctor_free(doctor);
    return code;
}

/* Ends everything that the checks may have started, where there is no program to end it. */
static void end_all(struct parts *parts)
{
    pool_free(parts->side_threads);
    browser_free(parts->browser);
}

static int print_page(void)
{
    struct buf out;
    buf_init(&out, KIB(64));
    doctor_write_markdown(&out);
    int code = print_buf(&out);
    buf_done(&out);
    return code;
}

int command_doctor(const struct arguments *arguments)
{
    if (option_given(arguments, "--markdown")) {
        return print_page();
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
        .side_threads = app ? NULL : pool_new(LIMIT_SIDE_THREADS),
        .browser = examination.options.failed ? browser_new(NULL) : NULL,
    };
    options.parts = &parts;
    int code = run_call(app, signals, &options, examine, &examination);
    if (!app) {
        end_all(&parts);
    }
    buf_done(&refused);
    return code;
}
