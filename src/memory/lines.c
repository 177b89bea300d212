/* Memories are gathered into a batch; each batch is a call of its own, whose memory goes with it.
 * The memories of a batch that go to the same namespace share a transaction, for which the changes
 * of others wait: while there are any, batches are smaller. */
#include "memory/lines.h"

#include "call/errors.h"
#include "core/limits.h"
#include "memory/formats.h"
#include "memory/memories.h"
#include "memory/rules.h"
#include "memory/values.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

#define ALONE_FOR 8u /* transactions, after which nobody is expected any more */

/* A memory of the batch. */
struct waiting {
    struct memory_change change;
    struct memory_space space;
    size_t number; /* of the value that it came from */
    bool is_done;
};

struct lines {
    struct call *call;
    struct lines_options options;
    struct values values;
    const struct import_format *format; /* NULL: nothing has come yet */
    struct call *batch;                 /* NULL: none is begun */
    struct waiting *waiting;
    size_t count;
    struct memory_change *changes; /* those of one namespace */
    size_t *numbers;
    size_t number; /* of the value at hand */
    bool is_item;  /* of an array, not a line */
    size_t alone;  /* the last so many transactions, as far as that matters */
    struct lines_counts counts;
    struct buf report;
};

static int take_value(void *context, const struct values_piece *piece);

struct lines *lines_new(struct call *call, const struct lines_options *options)
{
    struct lines *lines = calloc(1, sizeof *lines);
    if (!lines) {
        return NULL;
    }
    lines->call = call;
    lines->options = *options;
    lines->alone = ALONE_FOR;
    values_init(&lines->values, take_value, lines);
    buf_init(&lines->report, KIB(64));
    lines->waiting = calloc(LIMIT_MEMORY_IMPORT_LINES, sizeof *lines->waiting);
    lines->changes = calloc(LIMIT_MEMORY_IMPORT_LINES, sizeof *lines->changes);
    lines->numbers = calloc(LIMIT_MEMORY_IMPORT_LINES, sizeof *lines->numbers);
    if (!lines->waiting || !lines->changes || !lines->numbers) {
        return lines_free(lines);
    }
    lines->format = options->format ? formats_find(options->format) : NULL;
    if (options->format && !lines->format) {
        call_fail(call, CODE_VALIDATION, "format is \"%.60s\"; it must be " FORMATS_ALLOWED,
                  options->format);
        return lines_free(lines);
    }
    return lines;
}

struct lines *lines_free(struct lines *lines)
{
    if (lines) {
        call_free(lines->batch);
        values_done(&lines->values);
        buf_done(&lines->report);
        free(lines->waiting);
        free(lines->changes);
        free(lines->numbers);
        free(lines);
    }
    return NULL;
}

struct lines_counts lines_count(const struct lines *lines)
{
    return lines->counts;
}

const char *lines_report(const struct lines *lines)
{
    return lines->report.data ? lines->report.data : "";
}

void lines_describe(const struct lines_counts *counts, yyjson_mut_doc *doc, yyjson_mut_val *object)
{
    const struct {
        const char *name;
        size_t count;
    } COUNTS[] = {
        {"imported", counts->lines},    {"added", counts->added},
        {"replaced", counts->replaced}, {"unchanged", counts->unchanged},
        {"expired", counts->expired},   {"others", counts->others},
    };
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
        yyjson_mut_obj_add_uint(doc, object, COUNTS[i].name, COUNTS[i].count);
    }
    if (counts->blank > 0) {
        yyjson_mut_obj_add_uint(doc, object, "blank", counts->blank);
        yyjson_mut_val *numbers = yyjson_mut_obj_add_arr(doc, object, "blank_lines");
        for (size_t i = 0; i < counts->blank && i < LIMIT_MEMORY_WRONG_LINES; i++) {
            yyjson_mut_arr_add_uint(doc, numbers, counts->blank_numbers[i]);
        }
    }
}

/* ---- what is wrong ---- */

static const char *unit(const struct lines *lines)
{
    return lines->is_item ? "item" : "line";
}

static int fail_at(struct lines *lines, size_t number, const char *code, const char *message)
{
    call_fail(lines->call, code, "%s %zu: %s", unit(lines), number, message);
    call_fail_details(lines->call,
                      arena_printf(call_arena(lines->call), "{\"%s\":%zu,\"imported\":%zu}",
                                   unit(lines), number, lines->counts.lines));
    return ERR_FAILED;
}

/* Notes a wrong line of a check, which goes on with a new batch: a call has one error. */
static void note_wrong(struct lines *lines, size_t number, const char *message)
{
    if (lines->counts.wrong++ == 0) {
        size_t imported = lines->counts.lines;
        lines->counts.lines = 0; /* nothing is */
        fail_at(lines, number, CODE_VALIDATION, message);
        lines->counts.lines = imported;
    } else if (lines->counts.wrong <= LIMIT_MEMORY_WRONG_LINES) {
        buf_printf(&lines->report, "%s %zu: %s\n", unit(lines), number, message);
    }
    lines->count = 0;
    lines->batch = call_free(lines->batch);
}

/* Tells the import's caller what was wrong with a value, and how far it came. */
static int fail(struct lines *lines, size_t number, int status)
{
    const struct call_error *error = lines->batch ? call_error(lines->batch) : NULL;
    if (!error) {
        return status;
    }
    if (strcmp(error->code, CODE_VALIDATION) != 0) {
        return call_fail(lines->call, error->code, "%s", error->message);
    }
    if (!lines->options.only_checks) {
        return fail_at(lines, number, error->code, error->message);
    }
    note_wrong(lines, number, error->message);
    return OK;
}

/* ---- writing ---- */

/* What there is for one transaction, of a ceiling for imports that nobody waits for. */
static size_t share_of(const struct lines *lines, size_t most)
{
    return lines->alone < ALONE_FOR ? most / LIMIT_MEMORY_IMPORT_SHARE : most;
}

static bool same_space(const struct memory_space *a, const struct memory_space *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->owner, b->owner) == 0;
}

/* Imports all memories of the batch that go where the one at `first` goes. */
static int write_space(struct lines *lines, size_t first)
{
    struct memory_import_counts done = {0};
    const struct memory_space *space = &lines->waiting[first].space;
    size_t count = 0;
    size_t wrong = 0;
    for (size_t i = first; i < lines->count; i++) {
        struct waiting *one = &lines->waiting[i];
        if (!one->is_done && same_space(&one->space, space)) {
            lines->changes[count] = one->change;
            lines->numbers[count++] = one->number;
            one->is_done = true;
        }
    }
    int status = memory_import(lines->batch, space, lines->changes, count, &done, &wrong);
    if (status != OK) {
        return fail(lines, lines->numbers[wrong], status);
    }
    lines->alone = done.among_others ? 0 : lines->alone + (lines->alone < ALONE_FOR);
    size_t taken = count - done.expired;
    lines->counts.lines += taken;
    lines->counts.added += done.added;
    lines->counts.replaced += done.replaced;
    lines->counts.unchanged += taken - done.added - done.replaced;
    lines->counts.expired += done.expired;
    if (lines->counts.added + lines->counts.replaced > LIMIT_MEMORY_AT_ONCE) {
        indexes_wrote_much(call_parts(lines->call)->memories->indexes);
    }
    return OK;
}

/* Commits what is waiting. */
static int flush(struct lines *lines)
{
    int status = call_check(lines->call);
    if (lines->options.only_checks) {
        lines->counts.lines += lines->count;
        lines->count = 0;
    }
    for (size_t i = 0; i < lines->count && status == OK; i++) {
        status = lines->waiting[i].is_done ? OK : write_space(lines, i);
    }
    lines->count = status == OK ? 0 : lines->count;
    return status;
}

/* ---- reading ---- */

/* A memory without words, which no door takes any more: an export of an older version may hold it.
 */
static void leave_out_blank(struct lines *lines)
{
    if (lines->counts.blank < LIMIT_MEMORY_WRONG_LINES) {
        lines->counts.blank_numbers[lines->counts.blank] = lines->number;
    }
    lines->counts.blank++;
    lines->counts.is_item = lines->is_item;
}

/* Where a memory goes. Whether it is wanted. */
static int choose_space(struct lines *lines, const struct formats_memory *memory,
                        struct memory_space *space, bool *wanted)
{
    const struct lines_options *options = &lines->options;
    const char *name = memory->namespace ? memory->namespace : options->only;
    *wanted = options->into || !options->only || strcmp(name, options->only) == 0;
    name = options->into ? options->into : name;
    if (memory->caller && !options->of_everybody) {
        return call_fail(lines->batch, CODE_VALIDATION,
                         "it belongs to the caller \"%.60s\"; `forage memory import` on the "
                         "server's own machine can put it there",
                         memory->caller);
    }
    if (memory->caller && !*memory->caller) {
        return call_fail(lines->batch, CODE_VALIDATION, "caller is empty; leave it out");
    }
    return memory_space_of_caller(lines->batch, options->into ? NULL : memory->caller, name, space);
}

static int take_memory(void *context, const struct formats_memory *memory)
{
    struct lines *lines = context;
    struct waiting *one = &lines->waiting[lines->count];
    bool wanted = true;
    *one = (struct waiting){.change = memory->change, .number = lines->number};
    int status = choose_space(lines, memory, &one->space, &wanted);
    if (status == OK && !wanted) {
        lines->counts.others++;
        return OK;
    }
    if (status == OK && one->change.text && text_is_blank(one->change.text)) {
        leave_out_blank(lines);
        return OK;
    }
    if (status == OK && lines->options.only_checks) {
        status = rules_check(lines->batch, &one->change, true);
    }
    if (status != OK) {
        return status;
    }
    return ++lines->count >= share_of(lines, LIMIT_MEMORY_IMPORT_LINES) ? flush(lines) : OK;
}

static int read_value(struct lines *lines, const struct values_piece *piece)
{
    struct json_problem problem;
    struct arena *arena = call_arena(lines->batch);
    yyjson_val *value =
        yyjson_doc_get_root(json_parse(arena, piece->data, piece->length, &problem));
    if (!value) {
        return arena_failed(arena) ? ERR_NOMEM
                                   : call_fail(lines->batch, CODE_VALIDATION, "%s", problem.text);
    }
    if ((!yyjson_is_obj(value) && !yyjson_is_str(value)) || json_holds_nul(value)) {
        return call_fail(lines->batch, CODE_VALIDATION,
                         "it must be a JSON object without NUL characters");
    }
    lines->format = lines->format ? lines->format : formats_detect(value);
    return formats_read(lines->format, lines->batch, value, take_memory, lines);
}

static int take_value(void *context, const struct values_piece *piece)
{
    struct lines *lines = context;
    lines->number = piece->number;
    lines->is_item = piece->is_item;
    if (!lines->batch) {
        struct call_options options = {.request_id = call_request_id(lines->call),
                                       .caller = call_caller(lines->call),
                                       .parts = call_parts(lines->call),
                                       .for_operator = call_is_for_operator(lines->call)};
        lines->batch = call_new(&options);
    }
    if (!lines->batch) {
        return ERR_NOMEM;
    }
    int status = read_value(lines, piece);
    if (status != OK) {
        return fail(lines, piece->number, status);
    }
    size_t used = arena_used(call_arena(lines->batch));
    /* Nobody comes back to what was only checked. */
    if (used >
        (lines->options.only_checks ? KIB(64) : share_of(lines, LIMIT_MEMORY_IMPORT_BYTES))) {
        status = flush(lines);
    }
    if (status == OK && lines->count == 0 && used > KIB(64)) {
        lines->batch = call_free(lines->batch);
    }
    return status;
}

/* What the cutting did not like. */
static int fail_cutting(struct lines *lines, int status)
{
    if (status == ERR_INVALID) {
        return call_fail(lines->call, CODE_VALIDATION, "%s", lines->values.problem);
    }
    if (status == ERR_LIMIT) {
        bool is_item = lines->values.state == VALUES_ITEMS;
        return call_fail(lines->call, CODE_VALIDATION, "%s %zu: it has more than %zu bytes",
                         is_item ? "item" : "line",
                         is_item ? lines->values.items + 1 : lines->values.start,
                         is_item ? LIMIT_MEMORY_ITEM_BYTES : LIMIT_MEMORY_LINE_BYTES);
    }
    return status;
}

int lines_feed(struct lines *lines, const char *data, size_t length)
{
    return fail_cutting(lines, values_feed(&lines->values, data, length));
}

int lines_end(struct lines *lines)
{
    int status = fail_cutting(lines, values_end(&lines->values));
    if (status == OK) {
        status = flush(lines);
    }
    return status == OK && lines->counts.wrong > 0 ? ERR_FAILED : status;
}
