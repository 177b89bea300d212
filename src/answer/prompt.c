/* Fills in what the model is told: prompts/answer.md. */
#include "answer/question.h"
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "embedded.h"

#include <string.h>
#include <time.h>

/* "2026-11-15 10:10 UTC" */
static const char *moment(struct arena *arena, int64_t seconds)
{
    char text[64];
    struct tm parts;
    time_t when = (time_t)seconds;
    gmtime_r(&when, &parts);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
    return arena_strdup(arena, text);
}

static const char *freshness(struct arena *arena, const struct prompt_wishes *wishes)
{
    if (wishes->freshness_hours <= 0) {
        return "";
    }
    const char *since = moment(arena, wishes->now - (int64_t)wishes->freshness_hours * 3600);
    return since ? arena_printf(arena,
                                "\nPrefer sources that were published in the last %d hours, that "
                                "is since %s. Use an older one only where there is none, and say "
                                "that it is older.\n",
                                wishes->freshness_hours, since)
                 : NULL;
}

static const char *region(struct arena *arena, const struct prompt_wishes *wishes)
{
    return wishes->country ? arena_printf(arena,
                                          "\nThe reader is in this country: %s. Prefer sources "
                                          "from there and what applies there.\n",
                                          wishes->country)
                           : "";
}

const char *prompt_write(struct arena *arena, const struct prompt_wishes *wishes)
{
    const struct {
        const char *name;
        const char *words;
    } blanks[] = {
        {"{{now}}", moment(arena, wishes->now)},
        {"{{max_results}}", arena_printf(arena, "%d", wishes->max_results)},
        {"{{freshness}}", freshness(arena, wishes)},
        {"{{region}}", region(arena, wishes)},
    };
    if (arena_failed(arena)) {
        return NULL;
    }
    struct buf out;
    buf_init(&out, KIB(64));
    for (const char *at = prompt_answer; *at;) {
        size_t plain = strcspn(at, "{");
        buf_append(&out, at, plain);
        at += plain;
        size_t taken = 0;
        for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++) {
            size_t length = strlen(blanks[i].name);
            if (!taken && strncmp(at, blanks[i].name, length) == 0) {
                buf_puts(&out, blanks[i].words);
                taken = length;
            }
        }
        if (!taken && *at) {
            buf_putc(&out, *at);
            taken = 1;
        }
        at += taken;
    }
    return buf_to_arena(&out, arena);
}
