/* Pieces of HTML that a service hands out, as Markdown: nothing is chosen, all of it is content. */
#include "core/status.h"
#include "page/html/extract.h"
#include "page/html/page.h"
#include "page/html/parse.h"

int extract_fragment(struct arena *arena, const char *html, size_t length, const char *base_url,
                     struct buf *out)
{
    struct page page = {.arena = arena, .url = base_url};
    int status = parse_html(&page, html, length);
    if (status != OK) {
        return status;
    }
    page.roots = &page.body;
    page.root_count = 1;
    status = markdown_write(&page, out);
    parse_done(&page);
    return status;
}
