/* Writes the instructions of the model: prompts/answer*.md with their blanks filled in. */
#include "answer/question.h"
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "embedded.h"
#include "text/text.h"

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

static const char *dates(struct arena *arena, const struct prompt_wishes *wishes)
{
    const char *start = wishes->start_date;
    const char *end = wishes->end_date;
    const char *days = start && end
                           ? arena_printf(arena, "from %s to %s, both days included", start, end)
                       : start ? arena_printf(arena, "on %s or later", start)
                       : end   ? arena_printf(arena, "on %s or earlier", end)
                               : NULL;
    return days ? arena_printf(arena,
                               "\nUse only sources that were published %s. Where there is none, "
                               "say so.\n",
                               days)
                : "";
}

/* The two wishes for an age never come together. */
static const char *freshness(struct arena *arena, const struct prompt_wishes *wishes)
{
    if (wishes->freshness_hours <= 0) {
        return dates(arena, wishes);
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

/* `tag` is what stands around the words of strangers; "" where there are none. */
static const char *fill(struct arena *arena, const char *template,
                        const struct prompt_wishes *wishes, const char *tag)
{
    const struct text_blank blanks[] = {
        {"{{now}}", moment(arena, wishes->now)},
        {"{{max_results}}", arena_printf(arena, "%d", wishes->max_results)},
        {"{{freshness}}", freshness(arena, wishes)},
        {"{{region}}", region(arena, wishes)},
        {"{{tag}}", tag},
    };
    if (arena_failed(arena)) {
        return NULL;
    }
    struct buf out;
    buf_init(&out, KIB(64));
    text_fill(&out, template, blanks, sizeof blanks / sizeof *blanks);
    return buf_to_arena(&out, arena);
}

const char *prompt_write(struct arena *arena, const struct prompt_wishes *wishes)
{
    return fill(arena, prompt_answer, wishes, "");
}

const char *prompt_write_sources(struct arena *arena, const struct prompt_wishes *wishes,
                                 const char *tag, bool plain)
{
    return fill(arena, plain ? prompt_answer_plain : prompt_answer_sources, wishes, tag);
}
