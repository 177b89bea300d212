/* The flow of fetches: each hop is resolved, checked, transferred, and perhaps followed by another
 * one. The transfers of a batch share one curl multi, lent from the pool, and one wait. */
#include "net/fetch.h"

#include "core/clock.h"
#include "core/limits.h"
#include "net/curl_pool.h"
#include "net/fetch_proxy.h"
#include "net/fetch_transfer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LONGEST_WAIT_MS 60000

struct fetch_batch {
    struct call *call;
    struct curl_lane *lane; /* NULL: libcurl is missing or there is no memory */
    const char *no_lane;    /* why */
    struct fetch_transfer *active;
    struct fetch_transfer *done; /* the first to be handed out first */
    size_t active_count;
    int ended; /* the call's status, once it is over */
};

/* ---- the end of a fetch ---- */

static void remove_from(struct fetch_transfer **list, struct fetch_transfer *transfer)
{
    while (*list && *list != transfer) {
        list = &(*list)->next;
    }
    if (*list) {
        *list = transfer->next;
        transfer->next = NULL;
    }
}

static void add_to_end(struct fetch_transfer **list, struct fetch_transfer *transfer)
{
    while (*list) {
        list = &(*list)->next;
    }
    *list = transfer;
}

static void keep_body(struct fetch_transfer *transfer)
{
    struct fetch_response *response = &transfer->response;
    response->body = "";
    if (transfer->body.length) {
        const char *body =
            arena_strndup(transfer->arena, transfer->body.data, transfer->body.length);
        if (body) {
            response->body = body;
            response->body_length = transfer->body.length;
        } else {
            response->failure = FETCH_NOMEM;
            response->error = "out of memory";
        }
    }
    buf_done(&transfer->body);
}

/* Ends a fetch; `words` say what happened, NULL with FETCH_OK. */
static void finish(struct fetch_batch *batch, struct fetch_transfer *transfer,
                   enum fetch_failure failure, const char *words)
{
    struct fetch_response *response = &transfer->response;
    fetch_transfer_stop(transfer, batch->lane);
    response->failure = failure;
    response->url = transfer->url.text ? transfer->url.text : transfer->request->url;
    response->label = transfer->request->label;
    response->error = NULL;
    if (failure != FETCH_OK) {
        const char *text = transfer->url.host
                               ? arena_printf(transfer->arena, "%s: %s", transfer->url.host, words)
                               : words;
        response->error = text ? text : words;
    }
    keep_body(transfer);
    response->content_type = fetch_header_value(response, "content-type");
    remove_from(&batch->active, transfer);
    batch->active_count--;
    add_to_end(&batch->done, transfer);
}

/* ---- a hop ---- */

static void begin_transfer(struct fetch_batch *batch, struct fetch_transfer *transfer,
                           const struct resolve_result *resolved)
{
    if (fetch_transfer_start(transfer, batch->lane, resolved) != OK) {
        finish(batch, transfer, FETCH_NOMEM, "out of memory");
    }
}

static void begin_hop(struct fetch_batch *batch, struct fetch_transfer *transfer)
{
    fetch_transfer_forget(transfer);
    transfer->proxy = fetch_proxy(&transfer->url);
    if (transfer->proxy && !transfer->request->allow) {
        begin_transfer(batch, transfer, NULL); /* the proxy resolves the name */
        return;
    }
    int status = resolve_start(transfer->url.host, transfer->url.port, &transfer->query);
    if (status == ERR_BUSY) {
        finish(batch, transfer, FETCH_BUSY, "too many names are being looked up");
    } else if (status != OK) {
        finish(batch, transfer, FETCH_NOMEM, "out of memory");
    }
}

/* One address that is not allowed is enough to refuse the host: what it is doing there is not our
 * question. */
static void end_look_up(struct fetch_batch *batch, struct fetch_transfer *transfer)
{
    struct resolve_result resolved;
    int status = resolve_finish(transfer->query, &resolved);
    if (status == ERR_BUSY) {
        return;
    }
    transfer->query = resolve_free(transfer->query);
    if (status != OK) {
        enum fetch_failure failure = status == ERR_NOTFOUND ? FETCH_NO_NAME
                                     : status == ERR_NOMEM  ? FETCH_NOMEM
                                                            : FETCH_NAME_ERROR;
        finish(batch, transfer, failure, resolved.problem);
        return;
    }
    for (size_t i = 0; i < resolved.count; i++) {
        if (!fetch_transfer_allows(transfer, (struct sockaddr *)&resolved.addresses[i])) {
            finish(batch, transfer, FETCH_FORBIDDEN, "the address is not allowed");
            return;
        }
    }
    begin_transfer(batch, transfer, &resolved);
}

/* ---- redirects ---- */

/* 303 asks for a GET; 301 and 302 have come to mean the same after a POST; 307 and 308 change
 * nothing. */
static void change_method(struct fetch_transfer *transfer, int status)
{
    const char *method = transfer->method ? transfer->method : "GET";
    bool post = strcmp(method, "POST") == 0;
    bool plain = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if ((status == 303 && !plain) || ((status == 301 || status == 302) && post)) {
        transfer->method = "GET";
        transfer->without_body = true;
    }
}

static void follow(struct fetch_batch *batch, struct fetch_transfer *transfer)
{
    struct fetch_response *response = &transfer->response;
    const char *location = fetch_header_value(response, "location");
    struct url target;
    if (response->redirects == transfer->max_redirects) {
        finish(batch, transfer, FETCH_REDIRECTS, "too many redirects");
        return;
    }
    int status = url_resolve(transfer->arena, &transfer->url, location, &target, NULL);
    if (status != OK) {
        finish(batch, transfer, status == ERR_NOMEM ? FETCH_NOMEM : FETCH_REDIRECTS,
               "a redirect leads to what is no http or https URL");
        return;
    }
    fetch_transfer_stop(transfer, batch->lane);
    change_method(transfer, response->status);
    transfer->without_credentials |= !url_same_origin(&transfer->url, &target);
    transfer->url = target;
    response->redirects++;
    begin_hop(batch, transfer);
}

static void end_hop(struct fetch_batch *batch, struct fetch_transfer *transfer, CURLcode code)
{
    const char *words;
    enum fetch_failure failure = fetch_transfer_verdict(transfer, code, &words);
    if (failure == FETCH_OK && transfer->redirecting) {
        follow(batch, transfer);
    } else {
        finish(batch, transfer, failure, words);
    }
}

/* ---- the beginning of a fetch ---- */

static bool is_token(const char *text)
{
    size_t length = 0;
    while (text[length]) {
        unsigned char c = (unsigned char)text[length];
        if (!(c < 0x80 && isalnum(c)) && !strchr("!#$%&'*+-.^_`|~", c)) {
            return false;
        }
        length++;
    }
    return length > 0;
}

/* A line end in a header would let its value write headers of its own. */
static bool is_value(const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return true;
}

static const char *find_fault(const struct fetch_request *request)
{
    if (request->method && !is_token(request->method)) {
        return "the method is not valid";
    }
    for (size_t i = 0; i < request->header_count; i++) {
        if (!is_token(request->headers[i].name) || !is_value(request->headers[i].value)) {
            return "a header of the request is not valid";
        }
    }
    return NULL;
}

static void set_limits(struct fetch_transfer *transfer)
{
    const struct fetch_request *request = transfer->request;
    transfer->max_body_bytes =
        request->max_body_bytes ? request->max_body_bytes : LIMIT_FETCH_BODY_BYTES;
    transfer->max_redirects =
        request->max_redirects ? request->max_redirects : LIMIT_FETCH_REDIRECTS;
    transfer->deadline_ms =
        request->timeout_ms > 0 ? clock_now_ms() + request->timeout_ms : INT64_MAX;
    transfer->method = request->method ? request->method : request->body ? "POST" : "GET";
    buf_init(&transfer->body, transfer->max_body_bytes);
}

int fetch_batch_add(struct fetch_batch *batch, const struct fetch_request *request)
{
    if (batch->active_count == FETCH_MOST_AT_ONCE) {
        return ERR_LIMIT;
    }
    struct arena *arena = call_arena(batch->call);
    struct fetch_transfer *transfer = arena_zalloc(arena, sizeof *transfer);
    if (!transfer) {
        return ERR_NOMEM;
    }
    transfer->request = request;
    transfer->arena = arena;
    set_limits(transfer);
    transfer->next = batch->active;
    batch->active = transfer;
    batch->active_count++;
    const char *problem;
    const char *fault = find_fault(request);
    if (!batch->lane) {
        finish(batch, transfer, FETCH_UNAVAILABLE, batch->no_lane);
    } else if (fault) {
        finish(batch, transfer, FETCH_BAD_REQUEST, fault);
    } else if (url_parse(arena, request->url, &transfer->url, &problem) != OK) {
        const char *words = arena_printf(arena, "the URL %s", problem);
        finish(batch, transfer, FETCH_BAD_REQUEST, words ? words : "the URL is not valid");
    } else {
        begin_hop(batch, transfer);
    }
    return OK;
}

/* ---- all of them ---- */

struct fetch_batch *fetch_batch_new(struct call *call)
{
    struct fetch_batch *batch = arena_zalloc(call_arena(call), sizeof *batch);
    if (batch) {
        const struct curl_api *api = curl_api_open(&batch->no_lane);
        batch->call = call;
        batch->lane = api ? curl_pool_lend(api) : NULL;
        if (api && !batch->lane) {
            batch->no_lane = "out of memory";
        }
    }
    return batch;
}

/* Moves everything on that can move without waiting. */
static int advance(struct fetch_batch *batch)
{
    const struct curl_api *api = batch->lane->api;
    struct fetch_transfer *next;
    for (struct fetch_transfer *transfer = batch->active; transfer; transfer = next) {
        next = transfer->next;
        if (transfer->query) {
            end_look_up(batch, transfer);
        }
    }
    int running;
    if (api->multi_perform(batch->lane->multi, &running) != CURLM_OK) {
        return ERR_IO;
    }
    int left;
    CURLMsg *message;
    while ((message = api->multi_info_read(batch->lane->multi, &left)) != NULL) {
        char *owner = NULL;
        CURLcode code = message->data.result;
        api->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
        if (message->msg == CURLMSG_DONE && owner) {
            end_hop(batch, (struct fetch_transfer *)(void *)owner, code);
        }
    }
    int64_t now = clock_now_ms();
    for (struct fetch_transfer *transfer = batch->active; transfer; transfer = next) {
        next = transfer->next;
        if (now >= transfer->deadline_ms) {
            finish(batch, transfer, FETCH_TIMEOUT, "no answer in time");
        }
    }
    return OK;
}

/* Waits for libcurl's sockets, the look-ups, the cancellation or the next deadline. */
static int wait_for_any(struct fetch_batch *batch)
{
    struct curl_waitfd extra[FETCH_MOST_AT_ONCE + 1];
    unsigned count = 0;
    int cancel = call_cancel_fd(batch->call);
    if (cancel < 0) {
        return ERR_IO;
    }
    int64_t wait = call_time_left_ms(batch->call);
    int64_t now = clock_now_ms();
    extra[count++] = (struct curl_waitfd){.fd = cancel, .events = CURL_WAIT_POLLIN};
    for (struct fetch_transfer *transfer = batch->active; transfer; transfer = transfer->next) {
        if (transfer->query) {
            extra[count++] =
                (struct curl_waitfd){.fd = resolve_fd(transfer->query), .events = CURL_WAIT_POLLIN};
        }
        int64_t left = transfer->deadline_ms > now ? transfer->deadline_ms - now : 0;
        wait = left < wait ? left : wait;
    }
    wait = wait < LONGEST_WAIT_MS ? wait : LONGEST_WAIT_MS;
    CURLMcode code =
        batch->lane->api->multi_poll(batch->lane->multi, extra, count, (int)wait, NULL);
    return code == CURLM_OK ? OK : ERR_IO;
}

/* Ends what is under way, and closes the connections too: one that HTTP/2 shares between requests
 * would outlive them. */
static void break_off(struct fetch_batch *batch)
{
    while (batch->active) {
        struct fetch_transfer *transfer = batch->active;
        batch->active = transfer->next;
        fetch_transfer_stop(transfer, batch->lane);
        buf_done(&transfer->body);
    }
    batch->active_count = 0;
    batch->lane = curl_pool_discard(batch->lane);
    batch->no_lane = "the call is over";
}

int fetch_batch_next(struct fetch_batch *batch, struct fetch_response *response)
{
    while (!batch->done && batch->active && batch->ended == OK) {
        batch->ended = call_check(batch->call);
        if (batch->ended == OK) {
            batch->ended = advance(batch);
        }
        if (batch->ended == OK && !batch->done && batch->active) {
            batch->ended = wait_for_any(batch);
        }
    }
    if (batch->ended != OK) {
        break_off(batch);
    }
    if (batch->done) {
        struct fetch_transfer *transfer = batch->done;
        batch->done = transfer->next;
        *response = transfer->response;
        return OK;
    }
    return batch->ended != OK ? batch->ended : ERR_NOTFOUND;
}

struct fetch_batch *fetch_batch_free(struct fetch_batch *batch)
{
    if (batch && batch->active) {
        break_off(batch);
    } else if (batch) {
        batch->lane = curl_pool_give_back(batch->lane);
    }
    return NULL;
}

int fetch_run(struct call *call, const struct fetch_request *request,
              struct fetch_response *response)
{
    memset(response, 0, sizeof *response);
    response->failure = FETCH_NOMEM;
    response->error = "out of memory";
    response->url = request->url;
    response->body = "";
    struct fetch_batch *batch = fetch_batch_new(call);
    int status = batch ? fetch_batch_add(batch, request) : ERR_NOMEM;
    if (status == OK) {
        status = fetch_batch_next(batch, response);
    }
    fetch_batch_free(batch);
    if (status == ERR_CANCELLED || status == ERR_DEADLINE) {
        response->failure = FETCH_TIMEOUT;
        response->error =
            status == ERR_DEADLINE ? "the call ran out of time" : "the call was cancelled";
        return status;
    }
    return status == OK && response->failure == FETCH_OK ? OK : ERR_FAILED;
}

/* ---- small things ---- */

const char *fetch_header_value(const struct fetch_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcasecmp(response->headers[i].name, name) == 0) {
            return response->headers[i].value;
        }
    }
    return NULL;
}

const char *fetch_failure_name(enum fetch_failure failure)
{
    static const char *const NAMES[] = {
        [FETCH_OK] = "OK",
        [FETCH_BAD_REQUEST] = "BAD_REQUEST",
        [FETCH_FORBIDDEN] = "FORBIDDEN",
        [FETCH_NO_NAME] = "NO_NAME",
        [FETCH_NAME_ERROR] = "NAME_ERROR",
        [FETCH_CONNECT] = "CONNECT",
        [FETCH_TLS] = "TLS",
        [FETCH_TIMEOUT] = "TIMEOUT",
        [FETCH_BROKEN] = "BROKEN",
        [FETCH_TOO_LARGE] = "TOO_LARGE",
        [FETCH_REDIRECTS] = "REDIRECTS",
        [FETCH_STOPPED] = "STOPPED",
        [FETCH_BUSY] = "BUSY",
        [FETCH_UNAVAILABLE] = "UNAVAILABLE",
        [FETCH_NOMEM] = "NOMEM",
    };
    return NAMES[failure];
}

void fetch_shutdown(void)
{
    curl_pool_empty();
}
