/* arXiv: what the interface says about a paper, and its text: the HTML version where there is one,
 * else the PDF. A paper whose text cannot be read is still a paper with an abstract. */
#include "page/loaders/arxiv.h"

#include "core/clock.h"
#include "core/limits.h"
#include "page/html/extract.h"
#include "page/loaders/internal.h"
#include "page/loaders/service.h"

#include <stdatomic.h>
#include <string.h>

/* When the next request may begin: one every three seconds, for all calls together. */
static _Atomic int64_t next_at_ms;

/* Waits for our turn. Whoever is cancelled while it waits has taken no turn from the others. */
static int wait_for_turn(struct call *call)
{
    for (;;) {
        int64_t now = clock_now_ms();
        int64_t next = atomic_load(&next_at_ms);
        if (now >= next &&
            atomic_compare_exchange_strong(&next_at_ms, &next, now + TIME_ARXIV_PAUSE_MS)) {
            return OK;
        }
        int status = now < next ? call_sleep(call, next - now) : call_check(call);
        if (status != OK) {
            return status;
        }
    }
}

static int ask_metadata(struct call *call, const char *id, struct arxiv_paper *paper,
                        const char **why)
{
    struct service service;
    struct source_response response;
    int status = service_open(&service, call, "arXiv", "ARXIV_BASE_URL", NULL, why);
    char *path = arena_printf(call_arena(call), "/api/query?id_list=%s&max_results=1", id);
    service.accept = "application/atom+xml";
    if (status == OK) {
        status = path ? wait_for_turn(call) : ERR_NOMEM;
    }
    if (status == OK) {
        status = service_ask(&service, path, NULL, &response);
    }
    if (status != OK) {
        return status;
    }
    const struct fetch_response *fetched = &response.fetched;
    /* A malformed identifier is answered with 400 and a feed that says so. */
    if (fetched->status != 200 && fetched->status != 400) {
        return service_fail(&service, "arXiv answered HTTP %d", fetched->status);
    }
    status = arxiv_parse(call_arena(call), fetched->body, fetched->body_length, paper);
    if (status == ERR_NOTFOUND) {
        service_fail(&service, "arXiv knows no paper %s", id);
    }
    return status == ERR_INVALID ? service_fail(&service, "arXiv's answer is not the Atom it says")
                                 : status;
}

/* OK with the text, or why there is none. */
static int read_html(struct service *service, const char *id, const char **text)
{
    struct arena *arena = call_arena(service->call);
    struct source_response response;
    struct extract_result result;
    char *path = arena_printf(arena, "/html/%s", id);
    service->accept = "text/html";
    int status = path ? service_ask(service, path, NULL, &response) : ERR_NOMEM;
    if (status != OK) {
        return status;
    }
    if (response.fetched.status != 200) {
        return ERR_NOTFOUND;
    }
    struct extract_input input = {
        .bytes = response.fetched.body,
        .length = response.fetched.body_length,
        .url = response.fetched.url,
        .content_type = response.fetched.content_type,
    };
    status = extract_page(arena, &input, &result);
    if (status == OK && result.length > 0) {
        *text = result.markdown;
        return OK;
    }
    return status == ERR_NOMEM ? ERR_NOMEM : ERR_NOTFOUND;
}

static int read_pdf(struct service *service, const char *id, const char **text)
{
    struct source_response response;
    struct document document = {0};
    char *path = arena_printf(call_arena(service->call), "/pdf/%s", id);
    service->accept = "application/pdf";
    int status = path ? service_ask(service, path, NULL, &response) : ERR_NOMEM;
    if (status != OK) {
        return status;
    }
    const struct fetch_response *fetched = &response.fetched;
    if (fetched->status != 200 || !pdf_is(fetched->body, fetched->body_length)) {
        return service_fail(service, "arXiv has neither HTML nor a PDF of it (HTTP %d)",
                            fetched->status);
    }
    status = pdf_load(service->call, fetched->body, fetched->body_length, &document, service->why);
    *text = status == OK ? document.markdown : NULL;
    return status;
}

bool arxiv_claims(const struct url *url)
{
    char id[ARXIV_ID_SIZE];
    return arxiv_find(url, id);
}

int arxiv_load(struct call *call, const struct url *url, struct document *document,
               const char **why)
{
    char id[ARXIV_ID_SIZE];
    struct arxiv_paper paper;
    struct service pages;
    const char *text = NULL;
    const char *missing = NULL;
    if (!arxiv_find(url, id)) {
        return ERR_NOTFOUND;
    }
    call_progress(call, 0, 0, "asking arXiv");
    int status = ask_metadata(call, id, &paper, why);
    if (status == OK) {
        status = service_open(&pages, call, "arXiv", "ARXIV_PAGES_BASE_URL", NULL, &missing);
    }
    if (status != OK) {
        return status;
    }
    pages.max_bytes = LIMIT_FETCH_BODY_BYTES;
    status = read_html(&pages, id, &text);
    if (status == ERR_NOTFOUND || status == ERR_FAILED) {
        status = read_pdf(&pages, id, &text);
    }
    if (status != OK && status != ERR_NOTFOUND && status != ERR_FAILED) {
        return status;
    }
    document->url = url->text;
    document->site = "arXiv";
    return arxiv_write(call_arena(call), &paper, id, text, missing ? missing : "there is none",
                       document);
}
