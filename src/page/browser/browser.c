/* The browser, as the reader sees it. */
#include "page/browser/browser.h"

#include "page/browser/engine.h"
#include "page/browser/find.h"

#include <stdio.h>
#include <string.h>

/* A browser that dies under a page is often not that page's doing: once more, with a new one. */
#define TRIES 2

static int render_once(struct call *call, const char *url, struct browser_page *page)
{
    struct engine_lease lease;
    memset(page, 0, sizeof *page);
    int status = engine_lease(call, &lease, &page->error);
    if (status == OK) {
        call_progress(call, 0, 0, "rendering the page in the browser");
        status = page_render(call, lease.channel, &lease.proxy, url, page);
        engine_return(&lease);
    }
    return status;
}

int browser_render(struct call *call, const char *url, struct browser_page *page)
{
    int status = ERR_CLOSED;
    for (int i = 0; i < TRIES && status == ERR_CLOSED; i++) {
        status = render_once(call, url, page);
    }
    if (status != OK && status != ERR_CANCELLED && status != ERR_DEADLINE) {
        if (!page->error) {
            page->error = status == ERR_CLOSED ? "the browser ended while it showed the page"
                                               : "there is not enough memory to show the page";
        }
        status = ERR_FAILED;
    }
    return status;
}

bool browser_found(char *lacks, size_t size)
{
    char path[FIND_PATH_SIZE];
    return find_browser(path, lacks, size) == OK;
}

int browser_try(struct call *call, char *program, size_t size, const char **problem)
{
    struct engine_lease lease;
    char path[FIND_PATH_SIZE];
    int status = find_browser(path, program, size);
    if (status != OK) {
        return status;
    }
    snprintf(program, size, "%s", path);
    status = engine_lease(call, &lease, problem);
    if (status == OK) {
        engine_return(&lease);
    }
    return status;
}

void browser_shutdown(void)
{
    engine_shutdown();
}
