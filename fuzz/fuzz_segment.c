/* Fuzzes the reading of segments. A sound one is damaged as the input says (each four bytes: where,
 * and what is put there; the last odd byte cuts it), then it is searched in both ways, merged, and
 * what came of that is searched again. What is found may be wrong; nothing else may happen. */
#include "core/status.h"
#include "fuzz.h"
#include "index/fulltext.h"
#include "index/internal.h"
#include "index/merge.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES     300
#define ARENA_BYTES ((size_t)64 << 20)

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_segment: %s\n", what);
        abort();
    }
}

static void put(struct builder *builder, int i)
{
    static const char *const TEXTS[] = {
        "The database of the project has many connections",
        "Die Krankenversicherung ist nicht für die Mitarbeiter und auch nicht für uns",
        "数据库连接池的配置",
        "getUserName is called from user_profile_cache",
    };
    static char text[4096];
    char session[16];
    const char *const tags[] = {"red", i % 3 ? "round" : "square"};
    size_t length = (size_t)snprintf(text, sizeof text, "%s item%d ", TEXTS[i % 4], i % 40);
    /* A few have several passages. */
    for (int j = 0; j < 300 && i % 50 == 0; j++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "word%d. ", j % 60);
    }
    snprintf(session, sizeof session, "s%d", i / 10);
    struct index_entry entry = {.id = i + 1,
                                .text = text,
                                .summary = "",
                                .tags = tags,
                                .tag_count = 2,
                                .session = i % 4 ? session : NULL,
                                .place = i % 10,
                                .role = "user",
                                .created_ms = i,
                                .expires_ms = i % 7 ? 0 : i};
    require(builder_put(builder, &entry) == OK, "put");
}

/* A sound segment, made once. */
static const uint8_t *sound(size_t *length)
{
    static uint8_t *bytes;
    static size_t kept;
    if (!bytes) {
        struct builder *builder = builder_new();
        for (int i = 0; i < ENTRIES; i++) {
            put(builder, i);
        }
        require(builder_seal(builder, &bytes, &kept) == OK, "seal");
        builder_free(builder);
    }
    *length = kept;
    return bytes;
}

static void search(const struct index *index)
{
    static const char *const QUERIES[] = {"database connections item3 the", "Versicherung krank",
                                          "数据 word7 word8", "user name cache"};
    struct arena *arena = arena_new(ARENA_BYTES);
    const char *const tags[] = {"round"};
    for (size_t i = 0; i < sizeof QUERIES / sizeof *QUERIES; i++) {
        struct index_filter filter = {.tags = tags, .tag_count = i % 2, .now_ms = 100};
        struct index_found found;
        int status = index_search(index, arena, QUERIES[i], &filter, 10, 0, &found);
        require(status == OK || status == ERR_NOMEM, "search");
    }
    const char *const keywords[] = {"data*", "\"many connections\"", "-lunch"};
    struct fulltext question;
    struct index_hit *hits;
    size_t count;
    struct index_filter filter = {.session = "s3"};
    require(fulltext_read(&question, arena, keywords, 3, false) == OK, "read");
    int status = index_fulltext(index, arena, &question, &filter, &hits, &count);
    require(status == OK || status == ERR_NOMEM, "full text");
    arena_free(arena);
}

static void merge(struct index *index)
{
    const struct view_part *part = &index->view.parts[0];
    const struct merge_input inputs[] = {{&part->segment, part->dead}, {&part->segment, NULL}};
    uint8_t *bytes = NULL;
    size_t length = 0;
    int status = merge_segments(inputs, 2, &bytes, &length);
    require(status == OK || status == ERR_NOMEM || status == ERR_LIMIT, "merge");
    if (status == OK && view_add(&index->view, bytes, length) != OK) {
        require(0, "what was merged is no segment");
    }
}

FUZZ_TARGET(segment)
{
    size_t length;
    const uint8_t *from = sound(&length);
    size_t kept = size % 4 ? length * data[size - 1] / 256 : length;
    uint8_t *bytes = malloc(kept > 0 ? kept : 1);
    memcpy(bytes, from, kept);
    for (size_t i = 0; i + 4 <= size && kept > 0; i += 4) {
        size_t at = (size_t)data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16;
        bytes[at % kept] = data[i + 3];
    }
    struct index index = {.builder = NULL};
    if (view_add(&index.view, bytes, kept) != OK) {
        free(bytes);
    } else {
        view_remove(&index.view, 7);
        search(&index);
        merge(&index);
        search(&index);
    }
    view_done(&index.view);
    return 0;
}
