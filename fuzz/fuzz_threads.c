/* Fuzzes what writes conversations and videos from the answers of their sites: any JSON is given to
 * each, and what is no JSON to the readers of feeds, pages of videos and transcripts. Whatever
 * comes: they end, and what is written is valid UTF-8. */
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "loaders/bodies.h"
#include "loaders/sites.h"
#include "text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int status, const struct document *document)
{
    if (status == OK && (!document->markdown || strlen(document->markdown) != document->length ||
                         !text_is_utf8(document->markdown, document->length))) {
        fprintf(stderr, "fuzz_threads: what was written is no text\n");
        abort();
    }
}

static void write_each(struct arena *arena, yyjson_val *root)
{
    struct document document = {.url = "https://example.org/"};
    struct service_list list = {0};
    check(hackernews_write(arena, root, &document), &document);
    document = (struct document){.url = "https://example.org/"};
    check(mastodon_write(arena, root, yyjson_obj_get(root, "context"), &document), &document);
    if (service_list_add(arena, &list, service_array(root, "posts")) != OK) {
        return;
    }
    document = (struct document){.url = "https://example.org/"};
    check(discourse_write(arena, root, &list, "There are more.", &document), &document);
    document = (struct document){.url = "https://example.org/"};
    check(lemmy_write(arena, root, &list, NULL, &document), &document);
    document = (struct document){.url = "https://example.org/"};
    check(youtube_write(arena, root, NULL, "it has none", &document), &document);
}

FUZZ_TARGET(threads)
{
    struct arena *arena = arena_new(MIB(64));
    struct feed *feed = arena ? arena_alloc(arena, sizeof *feed) : NULL;
    char *text = arena ? arena_strndup(arena, (const char *)data, size) : NULL;
    if (!feed || !text) {
        arena_free(arena);
        return 0;
    }
    yyjson_doc *doc = json_parse(arena, text, size, NULL);
    struct document document = {.url = "https://example.org/"};
    if (doc) {
        write_each(arena, yyjson_doc_get_root(doc));
    } else if (text_is_utf8(text, size) && feed_parse(arena, text, size, feed) == OK &&
               feed->count) {
        check(reddit_write(arena, feed, &document), &document);
    }
    const char *transcript;
    yyjson_val *player = doc ? NULL : youtube_player(arena, text, size);
    if (!doc && text_is_utf8(text, size) &&
        youtube_transcript(arena, text, size, &transcript) == OK) {
        document = (struct document){.url = "https://example.org/"};
        check(youtube_write(arena, player, transcript, NULL, &document), &document);
    }
    arena_free(arena);
    return 0;
}
