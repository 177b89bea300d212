/* The table of loaders, most specific first: whose a URL is by its host and path, and whose a body
 * is by what it is. */
#include "page/loaders/loaders.h"

#include "page/loaders/internal.h"

#include <string.h>

static const struct loader LOADERS[] = {
    {"stackexchange", stackexchange_claims, stackexchange_load},
    {"github", github_claims, github_load},
    {"wikipedia", wikipedia_claims, wikipedia_load},
    {"arxiv", arxiv_claims, arxiv_load},
};

const struct loader *loader_for(const struct url *url)
{
    /* A service of that name on another port is another service. */
    if (url->port != 80 && url->port != 443) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof LOADERS / sizeof *LOADERS; i++) {
        if (LOADERS[i].claims(url)) {
            return &LOADERS[i];
        }
    }
    return NULL;
}

int load_by_content(struct call *call, const struct source_response *response,
                    struct document *document, const char **why)
{
    const struct fetch_response *fetched = &response->fetched;
    enum content_kind kind =
        sniff_content(fetched->content_type, fetched->body, fetched->body_length);
    document->url = fetched->url;
    document->age_s = response->age_s;
    switch (kind) {
    case CONTENT_PDF:
        return pdf_load(call, fetched->body, fetched->body_length, document, why);
    case CONTENT_FEED: {
        int status = feed_load(call, response, document);
        return status == ERR_NOTFOUND ? plain_load(call, response, kind, document) : status;
    }
    default:
        return plain_load(call, response, kind, document);
    }
}
