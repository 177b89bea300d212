/* `forage memory check`: what is wrong in the store, for the operator. It works on the memories of
 * all callers. */
#include "cli/cli.h"
#include "cli/run.h"
#include "core/limits.h"
#include "memory/fields.h"
#include "memory/memory.h"
#include "memory/time_words.h"

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
    return print_buf(&out);
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
    return print_json(arena, data ? root : NULL);
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
