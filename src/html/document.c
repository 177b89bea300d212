/* Documents that outlive the call that read them. */
#include "html/document.h"

static void copy_omitted(struct omitted *omitted, struct arena *arena)
{
    struct omitted_part *parts = arena_alloc(arena, (omitted->count + 1) * sizeof *parts);
    for (size_t i = 0; parts && i < omitted->count; i++) {
        parts[i] = omitted->parts[i];
        parts[i].what = arena_strdup(arena, parts[i].what);
        for (size_t j = 0; j < parts[i].heading_count; j++) {
            parts[i].headings[j] = arena_strdup(arena, parts[i].headings[j]);
        }
    }
    omitted->parts = parts;
}

int document_copy(struct document *document, struct arena *arena)
{
    const char **const texts[] = {
        &document->url,        &document->kind,        &document->loader,   &document->title,
        &document->authors,    &document->published,   &document->modified, &document->site,
        &document->language,   &document->description, &document->encoding, &document->access,
        &document->unrendered, &document->unfinished};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = *texts[i] ? arena_strdup(arena, *texts[i]) : NULL;
    }
    copy_omitted(&document->omitted, arena);
    document->markdown = arena_strndup(arena, document->markdown, document->length);
    return arena_failed(arena) ? ERR_NOMEM : OK;
}
