/* Fuzzes the search for quotes, the contradictions of pages and the rendering of reports. Input: a
 * page, another one, a quote and a report, a NUL between each two. Whatever they are: what was
 * found lies inside of its page, what a page says begins no footnote, and nothing that was not
 * found gets one. */
#include "core/limits.h"
#include "evidence/evidence.h"
#include "evidence/find.h"
#include "fuzz.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 4

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_evidence: %s\n", what);
        abort();
    }
}

/* What was found is on the page. */
static void check_found(const char *page, const char *quote)
{
    struct found_quote found;
    size_t work = LIMIT_EVIDENCE_WORK;
    size_t length = strlen(page);
    require(find_quote(page, length, quote, &work, &found) == OK, "out of memory");
    if (found.grade == EVIDENCE_ABSENT) {
        return;
    }
    require(found.start < found.end && found.end <= length, "not inside the page");
    struct arena *arena = arena_new(MIB(16));
    char *piece = arena ? arena_strndup(arena, page + found.start, found.end - found.start) : NULL;
    require(piece && text_is_utf8(piece, strlen(piece)), "cut inside a character");
    arena_free(arena);
}

static void check_report(struct evidence *evidence, const char *report)
{
    const char *markdown;
    struct evidence_counts counts;
    require(evidence_render(evidence, report, &markdown) == OK, "not rendered");
    require(text_is_utf8(markdown, strlen(markdown)), "not UTF-8");
    evidence_count(evidence, &counts);
    size_t found = counts.grades[EVIDENCE_EXACT] + counts.grades[EVIDENCE_NEAR] +
                   counts.grades[EVIDENCE_UNSEEN];
    const char *note = strstr(markdown, "\n\n[^1]: ");
    require(!note || found > 0, "a footnote of nothing");
    for (size_t count = 0; note; count++) {
        require(count < found, "more footnotes than notes");
        note = strstr(note + 2, "\n[^");
    }
    require(!evidence_verified(evidence) || found == counts.claims, "verified without proof");
}

FUZZ_TARGET(evidence)
{
    const char *parts[PARTS] = {"", "", "", ""};
    size_t count, index = 0;
    struct arena *arena = arena_new(MIB(64));
    char *text = arena ? arena_strndup(arena, (const char *)data, size) : NULL;
    require(text != NULL, "out of memory");
    for (size_t at = 0; at <= size && index < PARTS; at += strlen(text + at) + 1) {
        parts[index++] = text + at;
    }
    for (size_t i = 0; i < PARTS; i++) {
        if (!text_is_utf8(parts[i], strlen(parts[i]))) {
            arena_free(arena);
            return 0;
        }
    }
    struct evidence *evidence = evidence_new(arena);
    require(evidence != NULL, "out of memory");
    evidence_add_page(evidence, "https://a.test/", parts[1], parts[0], 0);
    evidence_add_page(evidence, "https://b.test/", parts[2], parts[1], 0);
    evidence_add_note(evidence, parts[3], parts[2], 1);
    evidence_add_note(evidence, parts[3], parts[2], 2);
    evidence_add_note(evidence, parts[3], parts[1], 2);
    evidence_add_note_at(evidence, parts[2], parts[1], parts[2]);
    check_found(parts[0], parts[2]);
    check_found(parts[1], parts[1]);
    check_report(evidence, parts[3]);
    const char *markdown;
    require(evidence_render_links(evidence, parts[3], &markdown) == OK, "not rendered");
    require(evidence_page_count(evidence) == 2, "another page");
    evidence_judge(evidence, evidence_note_count(evidence), 1, parts[2]);
    evidence_conflicts(evidence, &count);
    require(count <= LIMIT_EVIDENCE_CONFLICTS, "too many");
    arena_free(arena);
    return 0;
}
