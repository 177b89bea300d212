/* Following redirects with the line of its host and the policy at every hop. */
#include "page/source/hops.h"

#include "core/clock.h"
#include "core/limits.h"
#include "guard/policy.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct journey {
    struct call *call;
    struct line *hosts;
    const struct hops_request *request;
    struct fetch_batch *batch;
    struct url url;               /* of this hop */
    struct fetch_header *headers; /* that this hop still carries */
    size_t header_count;
    bool left_origin; /* of the first hop */
    int64_t deadline_ms;
};

static int fail(struct journey *journey, struct fetch_response *response,
                enum fetch_failure failure, const char *words)
{
    const char *error = arena_printf(call_arena(journey->call), "%s: %s", journey->url.host, words);
    *response = (struct fetch_response){
        .failure = failure,
        .error = error ? error : words,
        .url = journey->url.text,
        .redirects = response->redirects,
        .body = "",
    };
    return ERR_FAILED;
}

/* ---- one hop ---- */

static int transfer(struct journey *journey, struct fetch_response *response)
{
    const struct hops_request *request = journey->request;
    int64_t left = journey->deadline_ms - clock_now_ms();
    struct fetch_request *hop = arena_zalloc(call_arena(journey->call), sizeof *hop);
    if (!hop) {
        return ERR_NOMEM;
    }
    *hop = (struct fetch_request){
        .url = journey->url.text,
        .headers = journey->headers,
        .header_count = journey->header_count,
        .body = request->body,
        .body_length = request->body_length,
        .max_body_bytes = request->max_bytes,
        .max_redirects = FETCH_NO_REDIRECTS,
        .timeout_ms = left > 0 ? left : 1,
    };
    if (!request->configured || journey->left_origin) {
        hop->allow = policy_allow;
    }
    int status = fetch_batch_add(journey->batch, hop);
    return status == OK ? fetch_batch_next(journey->batch, response) : status;
}

static bool is_redirect(const struct fetch_response *response)
{
    int status = response->status;
    return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
           fetch_header_value(response, "location");
}

static int run_hop(struct journey *journey, struct fetch_response *response)
{
    int redirects = response->redirects;
    int64_t left = journey->deadline_ms - clock_now_ms();
    char key[URL_HOST_SIZE + 8];
    struct place place = {.call = journey->call, .key = key};
    snprintf(key, sizeof key, "%s:%d", journey->url.host, journey->url.port);
    int status = line_enter(journey->hosts, &place, left > 0 ? left : 0);
    if (status == ERR_BUSY) {
        return fail(journey, response, FETCH_TIMEOUT,
                    "too many transfers at once; none ended in time");
    }
    if (status != OK) {
        return status;
    }
    status = transfer(journey, response);
    line_leave(&place);
    response->redirects = redirects;
    if (status == OK && response->failure == FETCH_TOO_LARGE && is_redirect(response)) {
        return OK; /* nobody reads what a redirect has to say */
    }
    return status == OK && response->failure != FETCH_OK ? ERR_FAILED : status;
}

/* ---- from one to the next ---- */

static bool is_credential(const struct fetch_header *header)
{
    return header->secret || strcasecmp(header->name, "authorization") == 0 ||
           strcasecmp(header->name, "cookie") == 0;
}

/* What was meant for one origin does not go to another, nor back again. */
static void drop_credentials(struct journey *journey)
{
    size_t kept = 0;
    for (size_t i = 0; i < journey->header_count; i++) {
        if (!is_credential(&journey->headers[i])) {
            journey->headers[kept++] = journey->headers[i];
        }
    }
    journey->header_count = kept;
}

static int follow(struct journey *journey, struct fetch_response *response)
{
    struct url target;
    const char *location = fetch_header_value(response, "location");
    if (response->redirects == LIMIT_FETCH_REDIRECTS) {
        return fail(journey, response, FETCH_REDIRECTS, "too many redirects");
    }
    int status = url_resolve(call_arena(journey->call), &journey->url, location, &target, NULL);
    if (status == ERR_NOMEM) {
        return status;
    }
    if (status != OK) {
        return fail(journey, response, FETCH_REDIRECTS,
                    "a redirect leads to what is no http or https URL");
    }
    if (!url_same_origin(&journey->url, &target)) {
        journey->left_origin = true;
        drop_credentials(journey);
    }
    journey->url = target;
    response->redirects++;
    return OK;
}

static int travel(struct journey *journey, struct fetch_response *response)
{
    int status = run_hop(journey, response);
    while (status == OK && !journey->request->body && is_redirect(response)) {
        status = follow(journey, response);
        if (status == OK) {
            status = run_hop(journey, response);
        }
    }
    return status;
}

int hops_run(struct call *call, struct line *hosts, const struct hops_request *request,
             struct fetch_response *response)
{
    struct journey journey = {
        .call = call,
        .hosts = hosts,
        .request = request,
        .url = request->url,
        .header_count = request->header_count,
        .deadline_ms = clock_now_ms() + request->timeout_ms,
    };
    memset(response, 0, sizeof *response);
    journey.headers =
        arena_alloc(call_arena(call), (request->header_count + 1) * sizeof *journey.headers);
    journey.batch = fetch_batch_new(call);
    int status = ERR_NOMEM;
    if (journey.headers && journey.batch) {
        if (request->header_count) {
            memcpy(journey.headers, request->headers,
                   request->header_count * sizeof *journey.headers);
        }
        status = travel(&journey, response);
    }
    fetch_batch_free(journey.batch);
    if (status == ERR_NOMEM || status == ERR_IO) {
        return fail(&journey, response, FETCH_NOMEM, "out of memory");
    }
    if (status == ERR_CANCELLED || status == ERR_DEADLINE) {
        fail(&journey, response, FETCH_TIMEOUT, "the call is over");
    }
    return status;
}
