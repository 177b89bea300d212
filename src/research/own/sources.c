/* Keeps the list of sources, each page once. */
#include "research/own/sources.h"

#include "core/limits.h"
#include "text/text.h"
#include "text/url.h"

#include <string.h>

#define TITLE_CHARS   160
#define SNIPPET_CHARS 300
#define DATE_CHARS    40

/* On one line, and no longer than so many characters. */
static const char *line_of(struct arena *arena, const char *text, size_t most)
{
    text = text ? text : "";
    size_t length = text_prefix(text, strlen(text), most);
    char *copy = arena_strndup(arena, text, length);
    for (char *at = copy; at && *at; at++) {
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    }
    return copy;
}

/* The address in one spelling, and the number of the source that has it; 0: none has. */
static size_t find_spelled(struct arena *arena, const struct sources *sources,
                           const struct url *parsed, const char **spelled)
{
    *spelled = arena_strndup(arena, parsed->text, strcspn(parsed->text, "#"));
    for (size_t i = 0; *spelled && i < sources->count; i++) {
        if (strcmp(sources->items[i].spelled, *spelled) == 0) {
            return i + 1;
        }
    }
    return 0;
}

size_t sources_find(struct arena *arena, const struct sources *sources, const char *url)
{
    struct url parsed;
    const char *problem, *spelled;
    return strlen(url) <= LIMIT_RESEARCH_ITEM_CHARS &&
                   url_parse(arena, url, &parsed, &problem) == OK
               ? find_spelled(arena, sources, &parsed, &spelled)
               : 0;
}

size_t sources_add(struct arena *arena, struct sources *sources, const char *url, const char *title,
                   const char *snippet)
{
    struct url parsed;
    const char *problem;
    if (sources->count >= LIMIT_RESEARCH_SOURCES || strlen(url) > LIMIT_RESEARCH_ITEM_CHARS ||
        url_parse(arena, url, &parsed, &problem) != OK) {
        return 0;
    }
    const char *spelled;
    size_t known = find_spelled(arena, sources, &parsed, &spelled);
    if (known) {
        return known;
    }
    struct research_source *items = arena_grow(arena, sources->items, sources->count,
                                               &sources->capacity, sizeof *sources->items);
    if (!items || !spelled) {
        return 0;
    }
    sources->items = items;
    items[sources->count] = (struct research_source){
        .url = parsed.text,
        .title = line_of(arena, title, TITLE_CHARS),
        .snippet = line_of(arena, snippet, SNIPPET_CHARS),
        .spelled = spelled,
        .host = parsed.host,
    };
    return arena_failed(arena) ? 0 : ++sources->count;
}

static const char *member_text(yyjson_mut_val *object, const char *name)
{
    return yyjson_mut_get_str(yyjson_mut_obj_get(object, name));
}

size_t sources_add_result(struct arena *arena, struct sources *sources, yyjson_mut_val *result)
{
    const char *link = member_text(result, "link");
    const char *published = member_text(result, "published");
    size_t number = link ? sources_add(arena, sources, link, member_text(result, "title"),
                                       member_text(result, "snippet"))
                         : 0;
    struct research_source *source = sources_get(sources, (int64_t)number);
    if (source && published && !source->published) {
        source->published = line_of(arena, published, DATE_CHARS);
    }
    return number;
}

struct research_source *sources_get(const struct sources *sources, int64_t number)
{
    return number > 0 && (uint64_t)number <= sources->count ? &sources->items[number - 1] : NULL;
}

void sources_of_question(struct arena *arena, struct sources *sources, const char *question)
{
    static const char ENDS[] = " \t\r\n<>\"'`|{}\\";
    for (const char *at = strstr(question, "http"); at; at = strstr(at, "http")) {
        size_t length = strcspn(at, ENDS);
        if (strncmp(at, "http://", 7) != 0 && strncmp(at, "https://", 8) != 0) {
            at += 4;
            continue;
        }
        size_t end = length;
        while (end && strchr(".,;:!?)]", at[end - 1])) {
            end--; /* of the sentence, not of the address */
        }
        const char *url = arena_strndup(arena, at, end);
        if (url) {
            sources_add(arena, sources, url, "named in the question", NULL);
        }
        at += length;
    }
}
