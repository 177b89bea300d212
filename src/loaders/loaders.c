/* The table of loaders: whose a URL is by its host and path, and whose a body is by what it is. */
#include "loaders/loaders.h"

#include "core/limits.h"
#include "core/processor.h"
#include "documents/documents.h"
#include "loaders/bodies.h"
#include "loaders/sites.h"

#include <stdlib.h>

struct loaders *loaders_new(struct turns *turns)
{
    struct loaders *loaders = calloc(1, sizeof *loaders);
    if (loaders) {
        /* As many as there are processors, and two at least, so that one caller cannot have all. */
        size_t most = processor_count() > 2 ? processor_count() : 2;
        line_init(&loaders->pdfs, turns, "pdfs",
                  most < LIMIT_PDFS_AT_ONCE ? most : LIMIT_PDFS_AT_ONCE);
    }
    return loaders;
}

struct loaders *loaders_free(struct loaders *loaders)
{
    if (loaders) {
        line_done(&loaders->pdfs);
        free(loaders);
    }
    return NULL;
}

const struct loader *loader_for(const struct url *url)
{
    static const struct loader STACKEXCHANGE = {"stackexchange", stackexchange_load};
    static const struct loader GITHUB = {"github", github_load};
    static const struct loader WIKIPEDIA = {"wikipedia", wikipedia_load};
    static const struct loader ARXIV = {"arxiv", arxiv_load};
    static const struct loader YOUTUBE = {"youtube", youtube_load};
    static const struct loader HACKERNEWS = {"hackernews", hackernews_load};
    static const struct loader REDDIT = {"reddit", reddit_load};
    static const struct loader MASTODON = {"mastodon", mastodon_load};
    static const struct loader DISCOURSE = {"discourse", discourse_load};
    static const struct loader LEMMY = {"lemmy", lemmy_load};
    union {
        struct stackexchange_post post;
        struct github_page page;
        struct wikipedia_page article;
        char paper[ARXIV_ID_SIZE];
        struct discourse_topic topic;
        struct lemmy_page post_or_comment;
        struct slice id;
    } found;
    /* A service of that name on another port is another service. */
    if (url->port != 80 && url->port != 443) {
        return NULL;
    }
    return stackexchange_find(url, &found.post)      ? &STACKEXCHANGE
           : github_find(url, &found.page)           ? &GITHUB
           : wikipedia_find(url, &found.article)     ? &WIKIPEDIA
           : arxiv_find(url, found.paper)            ? &ARXIV
           : youtube_find(url, &found.id)            ? &YOUTUBE
           : hackernews_find(url, &found.id)         ? &HACKERNEWS
           : reddit_find(url, &found.id)             ? &REDDIT
           : mastodon_find(url, &found.id)           ? &MASTODON
           : discourse_find(url, &found.topic)       ? &DISCOURSE
           : lemmy_find(url, &found.post_or_comment) ? &LEMMY
                                                     : NULL;
}

/* What is more than the text that it is written in. ERR_NOTFOUND: it is not. */
static int load_text(struct call *call, const struct source_response *response,
                     enum content_kind kind, struct document *document)
{
    static const struct {
        enum content_kind kind;
        int (*write)(struct arena *arena, const char *text, size_t length,
                     struct document *document);
    } WRITERS[] = {
        {CONTENT_JSON, notebook_write},
        {CONTENT_TEXT, notebook_write}, /* as many servers call it */
        {CONTENT_SITEMAP, sitemap_write},
        {CONTENT_SVG, svg_write},
    };
    struct charset_text text;
    if (kind == CONTENT_FEED) {
        return feed_load(call, response, document);
    }
    if (kind == CONTENT_TEXT && *response->fetched.body != '{') {
        return ERR_NOTFOUND;
    }
    for (size_t i = 0; i < sizeof WRITERS / sizeof *WRITERS; i++) {
        if (WRITERS[i].kind == kind) {
            int status = feed_decode(call, response, &text);
            return status == OK
                       ? WRITERS[i].write(call_arena(call), text.bytes, text.length, document)
                       : status;
        }
    }
    return ERR_NOTFOUND;
}

int load_by_content(struct call *call, const struct source_response *response, bool all,
                    struct document *document, const char **why)
{
    const struct fetch_response *fetched = &response->fetched;
    enum content_kind kind =
        sniff_content(fetched->content_type, fetched->body, fetched->body_length);
    document->url = fetched->url;
    document->age_s = response->age_s;
    if (kind == CONTENT_PDF) {
        return pdf_load(call, fetched->body, fetched->body_length, all, document, why);
    }
    if (kind == CONTENT_ARCHIVE || kind == CONTENT_BINARY) {
        return documents_read(call_arena(call), fetched->body, fetched->body_length, document, why);
    }
    int status = load_text(call, response, kind, document);
    if (status == ERR_NOTFOUND && kind == CONTENT_SVG) {
        *why = "an SVG picture without words";
        return status;
    }
    return status == ERR_NOTFOUND ? plain_load(call, response, kind, document) : status;
}
