/* Fuzzes what an import reads. Whatever the bytes are and in whatever pieces they come: the same
 * values are cut out, the same memories are found in them, and what is refused is refused with
 * words. Nothing is written: the import only checks. */
#include "call/call.h"
#include "config/config.h"
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "guard/callers.h"
#include "memory/lines.h"
#include "memory/values.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_imports: %s\n", what);
        abort();
    }
}

static void load_configuration(void)
{
    static char *const NOTHING[] = {NULL};
    static bool loaded;
    if (!loaded) {
        struct buf problem;
        buf_init(&problem, KIB(64));
        require(config_load(NOTHING, NULL, &problem) == OK, "the configuration does not load");
        buf_done(&problem);
        loaded = true;
    }
}

/* ---- cutting ---- */

struct cut {
    uint64_t digest; /* of the values and their numbers */
    size_t count;
    size_t bytes;
    int status;
};

static int take(void *context, const struct values_piece *piece)
{
    struct cut *cut = context;
    require(piece->number > 0, "a value without a number");
    for (size_t i = 0; i < piece->length; i++) {
        cut->digest = (cut->digest ^ (unsigned char)piece->data[i]) * 1099511628211u;
    }
    cut->digest = (cut->digest ^ piece->number ^ ((uint64_t)piece->is_item << 63)) * 1099511628211u;
    cut->count++;
    cut->bytes += piece->length;
    return OK;
}

static struct cut cut_up(const char *text, size_t length, size_t most)
{
    struct cut cut = {.digest = 14695981039346656037u};
    struct values values;
    values_init(&values, take, &cut);
    for (size_t at = 0; at < length && cut.status == OK; at += most) {
        cut.status = values_feed(&values, text + at, length - at < most ? length - at : most);
    }
    cut.status = cut.status == OK ? values_end(&values) : cut.status;
    require(cut.status != ERR_INVALID || values.problem, "no words for what is wrong");
    values_done(&values);
    return cut;
}

/* ---- reading ---- */

static struct lines_counts check(const char *text, size_t length, size_t most, int *status)
{
    struct call *call = call_new(&(struct call_options){.caller = caller_local()});
    struct lines_options options = {.of_everybody = true, .only_checks = true};
    struct lines *lines = call ? lines_new(call, &options) : NULL;
    require(lines != NULL, "no memory");
    *status = OK;
    for (size_t at = 0; at < length && *status == OK; at += most) {
        *status = lines_feed(lines, text + at, length - at < most ? length - at : most);
    }
    *status = *status == OK ? lines_end(lines) : *status;
    struct lines_counts counts = lines_count(lines);
    require(*status == OK || *status == ERR_NOMEM || call_error(call), "it fails without words");
    require(*status != OK || counts.wrong == 0, "wrong lines are taken");
    lines_free(lines);
    call_free(call);
    return counts;
}

FUZZ_TARGET(imports)
{
    const char *text = (const char *)data;
    int status;
    int other;
    load_configuration();
    struct cut whole = cut_up(text, size, SIZE_MAX);
    struct cut pieces = cut_up(text, size, 3);
    require(whole.status == pieces.status && whole.digest == pieces.digest &&
                whole.count == pieces.count,
            "pieces are cut otherwise than the whole");
    require(whole.bytes <= size, "more comes out than went in");
    struct lines_counts once = check(text, size, SIZE_MAX, &status);
    struct lines_counts again = check(text, size, 7, &other);
    require(status == other && once.lines == again.lines && once.wrong == again.wrong,
            "pieces are read otherwise than the whole");
    return 0;
}
