/* Fuzzes the whole extractor. The first line of the input is the Content-Type that came with the
 * page, the rest is the page. Whatever they are: no crash, no leak, valid UTF-8 of a sensible
 * length without characters that are never seen, and the same again when the same page is read
 * again. */
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "html/extract.h"
#include "text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_extract: %s\n", what);
        abort();
    }
}

static void check_fact(const char *fact)
{
    require(!fact || text_is_utf8(fact, strlen(fact)), "a fact is not UTF-8");
}

static void check(const struct extract_result *result)
{
    require(result->markdown != NULL && result->kind != NULL, "nothing came");
    require(strlen(result->markdown) == result->length, "a NUL in the text");
    require(result->length <= LIMIT_MARKDOWN_BYTES, "too long");
    require(text_is_utf8(result->markdown, result->length), "not UTF-8");
    require(!strstr(result->markdown, "\xF3\xA0\x80"), "tag characters");
    check_fact(result->title);
    check_fact(result->authors);
    check_fact(result->published);
    check_fact(result->site);
    check_fact(result->canonical);
    check_fact(result->language);
    check_fact(result->description);
    for (size_t i = 0; i < result->omitted.count; i++) {
        const struct omitted_part *part = &result->omitted.parts[i];
        require(part->chars > 0, "a kind without text");
        require(i == 0 || part[-1].chars >= part->chars, "not the largest first");
        for (size_t j = 0; j < part->heading_count; j++) {
            check_fact(part->headings[j]);
        }
    }
    for (size_t i = 0; i < result->text_count; i++) {
        require(result->texts[i].what && result->texts[i].length, "a text without a place");
    }
}

FUZZ_TARGET(extract)
{
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    if (!arena || !newline) {
        arena_free(arena);
        return 0;
    }
    char *type = arena_strndup(arena, (const char *)data, (size_t)(newline - data));
    struct extract_input input = {.bytes = (const char *)newline + 1,
                                  .length = size - (size_t)(newline + 1 - data),
                                  .url = "https://example.org/dir/page?a=b",
                                  .content_type = type};
    struct extract_result first, second, all;
    int status = extract_page(arena, &input, &first);
    require(status == OK || status == ERR_INVALID, "an error");
    if (status == OK) {
        check(&first);
        require(extract_page(arena, &input, &second) == OK, "not again");
        require(strcmp(first.markdown, second.markdown) == 0, "not the same again");
        input.all = input.account = true;
        require(extract_page(arena, &input, &all) == OK, "not everything");
        check(&all);
    }
    arena_free(arena);
    return 0;
}
