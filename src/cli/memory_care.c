/* `forage memory check`, `history` and `restore`: what is wrong in the store, of all callers, for
 * the operator; and the earlier versions of a memory. */
#include "cli/cli.h"
#include "cli/terminal.h"
#include "cli/tool_command.h"
#include "core/limits.h"
#include "memory/fields.h"
#include "memory/memory.h"
#include "memory/time_words.h"

#include <stdlib.h>
#include <string.h>

/* ---- check ---- */

/* One problem as a line: which memory, when it was written, what is wrong. */
static void print_problem(struct buf *out, const struct memory_problem *problem)
{
    char written[TIME_WORDS_ISO_SIZE];
    if (!problem->id) {
        buf_printf(out, "%s: %s\n", problem->repaired ? "repaired" : "wrong", problem->what);
        return;
    }
    buf_printf(out, "damaged: key %s, ", problem->key ? problem->key : "(none)");
    if (problem->space) {
        buf_printf(out, "namespace %s, ", problem->space);
    }
    if (problem->owner && *problem->owner) {
        buf_printf(out, "of %s, ", problem->owner);
    }
    buf_printf(out, "id %lld, version %lld, written %s: %s\n", (long long)problem->id,
               (long long)problem->version, time_words_iso(problem->written_ms, written),
               problem->what);
}

static int print_for_people(const struct memory_check *check, bool repair)
{
    struct buf out;
    buf_init(&out, LIMIT_CALL_ARENA_BYTES);
    for (size_t i = 0; i < check->listed; i++) {
        print_problem(&out, &check->problems[i]);
    }
    if (check->count > check->listed) {
        buf_printf(&out, "and %zu more\n", check->count - check->listed);
    }
    buf_printf(&out, "%lld memories, %zu problems", (long long)check->memories, check->count);
    if (repair) {
        buf_printf(&out, ", %zu repaired", check->repaired);
    }
    buf_putc(&out, '\n');
    return print_buf(&out, WORDS_OF_CALLER);
}

static int print_as_json(struct arena *arena, const struct memory_check *check)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_obj_add_bool(doc, root, "success", true);
    yyjson_mut_val *data = yyjson_mut_obj_add_obj(doc, root, "data");
    yyjson_mut_obj_add_bool(doc, data, "sound", check->count == check->repaired);
    yyjson_mut_obj_add_sint(doc, data, "memories", check->memories);
    yyjson_mut_obj_add_uint(doc, data, "problem_count", check->count);
    yyjson_mut_obj_add_uint(doc, data, "repaired_count", check->repaired);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, data, "problems");
    for (size_t i = 0; i < check->listed; i++) {
        const struct memory_problem *problem = &check->problems[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "what", problem->what);
        json_add_string(doc, item, "caller", problem->owner);
        json_add_string(doc, item, "namespace", problem->space);
        json_add_string(doc, item, "key", problem->key);
        if (problem->id) {
            yyjson_mut_obj_add_sint(doc, item, "id", problem->id);
            yyjson_mut_obj_add_sint(doc, item, "version", problem->version);
            fields_write_time(doc, item, "written_at", problem->written_ms);
        }
        yyjson_mut_obj_add_bool(doc, item, "repaired", problem->repaired);
    }
    return print_json(arena, data ? root : NULL, WORDS_OF_CALLER);
}

static int check(struct app *app, struct call *call, void *context)
{
    (void)app;
    const struct arguments *arguments = *(const struct arguments **)context;
    struct memory_check found;
    bool repair = option_given(arguments, "--repair");
    int status = memory_check(call, repair, &found);
    if (status != OK) {
        call_fail_status(call, status);
        return print_call_error(call);
    }
    int code = option_given(arguments, "--json") ? print_as_json(call_arena(call), &found)
                                                 : print_for_people(&found, repair);
    return code == EXIT_OK && found.count > found.repaired ? EXIT_FAILED : code;
}

int command_memory_check(const struct arguments *arguments)
{
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    log_quietly();
    struct call_options options = run_options(NULL);
    return run_in_app(&options, check, &arguments);
}

/* ---- history ---- */

static void add_key(struct tool_run *run)
{
    const struct arguments *given = run->given;
    json_add_string(run->doc, run->parameters, "namespace", option_text(given, "--namespace"));
    json_add_string(run->doc, run->parameters, "key", given->words[0]);
    /* Of a restore, the version that it names; of a history, all of them. */
    yyjson_mut_obj_add_sint(run->doc, run->parameters, "version",
                            given->count > 1 ? strtoll(given->words[1], NULL, 10) : 0);
}

/* One line for each: version, when it was written, size, tags, how it begins. */
static int print_history(const struct tool_run *run)
{
    struct buf out;
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_val *data = yyjson_mut_obj_get(run->result, "data");
    buf_init(&out, LIMIT_CALL_ARENA_BYTES);
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(data, "versions"), index, max, item)
    {
        size_t begun = out.length;
        buf_printf(&out, "%3lld%s  %s  %lld chars  ", (long long)number_of(item, "version"),
                   index == 0 ? " (now)" : "      ", text_of(item, "updated_at"),
                   (long long)number_of(item, "chars"));
        size_t tag_index, tag_count;
        yyjson_mut_val *tag;
        yyjson_mut_arr_foreach(yyjson_mut_obj_get(item, "tags"), tag_index, tag_count, tag)
        {
            buf_printf(&out, "%s%s%s", tag_index ? ", " : "[", yyjson_mut_get_str(tag),
                       tag_index + 1 == tag_count ? "]  " : "");
        }
        if (*text_of(item, "damaged")) {
            buf_puts(&out, "(damaged)  ");
        }
        const char *begins = text_of(item, "begins");
        terminal_put(&out, begins, strlen(begins), terminal_room(stdout, out.length - begun));
        buf_putc(&out, '\n');
    }
    return print_buf(&out, WORDS_OF_CALLER);
}

int command_memory_history(const struct arguments *arguments)
{
    static const struct tool_command HISTORY = {.tool = "memory_get",
                                                .add = add_key,
                                                .print = print_history,
                                                .advice = MEMORY_ADVICE,
                                                .quiet = true};
    return run_tool_command(&HISTORY, arguments, NULL);
}

/* ---- restore ---- */

static int print_restored(const struct tool_run *run)
{
    yyjson_mut_val *data = yyjson_mut_obj_get(run->result, "data");
    yyjson_mut_val *replaced = yyjson_mut_obj_get(data, "replaced");
    struct buf out;
    buf_init(&out, KIB(16));
    if (replaced) {
        buf_printf(&out, "restored version %s of %s (as version %lld, in place of version %lld)\n",
                   run->given->words[1], text_of(data, "key"),
                   (long long)number_of(data, "version"),
                   (long long)number_of(replaced, "version"));
    } else {
        buf_printf(&out, "unchanged %s\n", text_of(data, "key"));
    }
    return print_buf(&out, WORDS_OF_CALLER);
}

int command_memory_restore(const struct arguments *arguments)
{
    static const struct tool_command RESTORE = {.tool = "memory_update",
                                                .add = add_key,
                                                .print = print_restored,
                                                .advice = MEMORY_ADVICE,
                                                .quiet = true};
    const char *version = arguments->words[1];
    if (strspn(version, "0123456789") != strlen(version) || strlen(version) > 12 ||
        strtoll(version, NULL, 10) < 1) {
        return usage_error("\"%s\" is no version; `forage memory history %s` lists them", version,
                           arguments->words[0]);
    }
    return run_tool_command(&RESTORE, arguments, NULL);
}
