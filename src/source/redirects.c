/* Following redirects: the one place in the program that does. */
#include "source/redirects.h"

#include "call/parts.h"
#include "core/clock.h"
#include "core/limits.h"
#include "guard/policy.h"
#include "net/lanes.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct redirect_walk {
    struct call *call;
    struct line *hosts;
    struct fetch_request hop; /* the next request */
    struct url url;           /* where it goes */
    struct fetch_header *headers;
    int redirects;
    int64_t deadline_ms;
};

static int fail(struct redirect_walk *walk, struct fetch_response *response,
                enum fetch_failure failure, const char *words)
{
    const char *error = arena_printf(call_arena(walk->call), "%s: %s", walk->url.host, words);
    *response = (struct fetch_response){
        .failure = failure,
        .error = error ? error : words,
        .url = walk->url.text,
        .body = "",
    };
    return ERR_FAILED;
}

static bool is_redirect(const struct fetch_response *response)
{
    int status = response->status;
    return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
           fetch_header_value(response, "location");
}

static int run_hop(struct redirect_walk *walk, struct fetch_response *response)
{
    char key[URL_HOST_SIZE + 8];
    struct place place = {.call = walk->call, .key = key};
    int64_t left = walk->deadline_ms - clock_now_ms();
    snprintf(key, sizeof key, "%s:%d", walk->url.host, walk->url.port);
    call_waits_for(walk->call, "a free transfer to the host");
    int status = line_enter(walk->hosts, &place, left > 0 ? left : 0);
    call_waits_for(walk->call, NULL);
    if (status == ERR_BUSY) {
        return fail(walk, response, FETCH_TIMEOUT,
                    "too many transfers at once; none ended in time");
    }
    if (status != OK) {
        return status;
    }
    left = walk->deadline_ms - clock_now_ms();
    walk->hop.timeout_ms = left > 0 ? left : 1;
    status = fetch_run(walk->call, &walk->hop, response);
    line_leave(&place);
    bool too_long = status == ERR_FAILED && response->failure == FETCH_TOO_LARGE;
    return too_long && is_redirect(response) ? OK : status; /* nobody reads what a redirect says */
}

/* Whether a header was meant for one origin only. */
static bool is_credential(const struct fetch_header *header)
{
    return header->secret || strcasecmp(header->name, "authorization") == 0 ||
           strcasecmp(header->name, "cookie") == 0 ||
           strcasecmp(header->name, "proxy-authorization") == 0;
}

/* What was meant for one origin does not go to another, nor back again. */
static void leave_origin(struct redirect_walk *walk)
{
    size_t kept = 0;
    for (size_t i = 0; i < walk->hop.header_count; i++) {
        if (!is_credential(&walk->headers[i])) {
            walk->headers[kept++] = walk->headers[i];
        }
    }
    walk->hop.header_count = kept;
    walk->hop.allow = policy_allow;
}

static int take_redirect(struct redirect_walk *walk, struct fetch_response *response)
{
    struct url target;
    const char *location = fetch_header_value(response, "location");
    if (walk->redirects == LIMIT_FETCH_REDIRECTS) {
        return fail(walk, response, FETCH_REDIRECTS, "too many redirects");
    }
    int status = url_resolve(call_arena(walk->call), &walk->url, location, &target, NULL);
    if (status == ERR_NOMEM) {
        return status;
    }
    if (status != OK) {
        return fail(walk, response, FETCH_REDIRECTS,
                    "a redirect leads to what is no http or https URL");
    }
    if (!url_same_origin(&walk->url, &target)) {
        leave_origin(walk);
    }
    walk->url = target;
    walk->redirects++;
    return OK;
}

static int run_all(struct redirect_walk *walk, struct fetch_response *response)
{
    int status = run_hop(walk, response);
    while (status == OK && !walk->hop.body && is_redirect(response)) {
        status = take_redirect(walk, response);
        if (status == OK) {
            status = run_hop(walk, response);
        }
    }
    return status;
}

int redirects_follow(struct call *call, struct line *hosts, const struct fetch_request *request,
                     bool configured, struct fetch_response *response)
{
    struct redirect_walk walk = {
        .call = call,
        .hosts = hosts,
        .hop = *request,
        .url = *request->url,
        .headers =
            arena_alloc(call_arena(call), (request->header_count + 1) * sizeof *walk.headers),
        .deadline_ms = clock_now_ms() + request->timeout_ms,
    };
    if (!walk.headers) {
        return fail(&walk, response, FETCH_NOMEM, "out of memory");
    }
    if (request->header_count) {
        memcpy(walk.headers, request->headers, request->header_count * sizeof *walk.headers);
    }
    const char *problem; /* without a lane each hop finds out for itself */
    walk.hop.lane = lane_lend(call, &problem);
    walk.hop.url = &walk.url;
    walk.hop.headers = walk.headers;
    walk.hop.allow = configured ? NULL : policy_allow;
    walk.hop.allow_context = call_parts(call)->policy;
    int status = run_all(&walk, response);
    lane_return(walk.hop.lane);
    if (status == ERR_NOMEM || status == ERR_IO) {
        status = fail(&walk, response, FETCH_NOMEM, "out of memory");
    } else if (status == ERR_CANCELLED || status == ERR_DEADLINE) {
        fail(&walk, response, FETCH_TIMEOUT, "the call is over");
    }
    response->redirects = walk.redirects;
    return status;
}
