/* One request: its name is looked up, every address is checked, libcurl transfers it, and what came
 * is collected in the call's arena. */
#include "net/fetch.h"

#include "call/journal.h"
#include "call/parts.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/log.h"
#include "net/codings.h"
#include "net/lanes.h"
#include "net/resolve.h"
#include "net/surroundings.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONNECT_TIME_MS 10000L
#define LONGEST_WAIT_MS 60000
#define FIRST_HEADERS   16

static const char CUT_OFF[] = "the answer was cut off";

struct transfer {
    struct call *call;
    const struct fetch_request *request;
    struct fetch_response *response;
    struct lane *lane;
    const char *proxy;   /* NULL: a direct connection */
    int64_t deadline_ms; /* INT64_MAX: only the call's */
    size_t max_body_bytes;
    size_t max_kept_bytes; /* of what is not handed over */

    CURL *easy;
    struct curl_slist *headers;
    struct curl_slist *pins;
    struct curl_slist *route; /* through a proxy: to the address that was checked */
    char curl_error[CURL_ERROR_SIZE];

    struct fetch_header *received;
    size_t received_room;
    size_t head_bytes;
    bool body_began;
    struct codings *codings; /* NULL: none, or what they are is not known yet */
    struct buf body;
    size_t taken_bytes;         /* by request->take */
    bool enough;                /* it wants no more */
    enum fetch_failure verdict; /* why a callback ended the transfer */
    const char *broken;         /* the words of FETCH_BROKEN */
};

/* ---- the policy ---- */

static bool allows(const struct transfer *transfer, const struct sockaddr *address)
{
    const struct fetch_request *request = transfer->request;
    return !request->allow ||
           request->allow(request->allow_context, request->url->host, address) == OK;
}

/* Before a socket is connected. The address was checked when it was resolved; this holds even if
 * libcurl came by another one. */
static curl_socket_t on_open_socket(void *context, curlsocktype purpose,
                                    struct curl_sockaddr *address)
{
    struct transfer *transfer = context;
    (void)purpose;
    if (!transfer->proxy && !allows(transfer, &address->addr)) {
        transfer->verdict = FETCH_FORBIDDEN;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Before a request is sent, also on a connection that an earlier request with another policy
 * opened. */
static int on_connected(void *context, char *address, char *local_address, int port, int local_port)
{
    struct transfer *transfer = context;
    struct sockaddr_storage peer = {0};
    struct sockaddr_in *ipv4 = (struct sockaddr_in *)&peer;
    struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)&peer;
    (void)local_address;
    (void)local_port;
    /* libcurl sends a request again by itself, where a connection that waited turns out to be dead;
     * the process may have slept meanwhile. */
    if (journal_may_act(transfer->call) != OK) {
        return CURL_PREREQFUNC_ABORT;
    }
    transfer->response->sent = true;
    if (transfer->proxy || !transfer->request->allow) {
        return CURL_PREREQFUNC_OK;
    }
    if (inet_pton(AF_INET, address, &ipv4->sin_addr) == 1) {
        ipv4->sin_family = AF_INET;
        ipv4->sin_port = htons((uint16_t)port);
    } else if (inet_pton(AF_INET6, address, &ipv6->sin6_addr) == 1) {
        ipv6->sin6_family = AF_INET6;
        ipv6->sin6_port = htons((uint16_t)port);
    }
    if (!allows(transfer, (struct sockaddr *)&peer)) {
        transfer->verdict = FETCH_FORBIDDEN;
        return CURL_PREREQFUNC_ABORT;
    }
    return CURL_PREREQFUNC_OK;
}

/* ---- what comes ---- */

static int keep_header(struct transfer *transfer, const char *line, size_t length)
{
    struct fetch_response *response = transfer->response;
    const char *colon = memchr(line, ':', length);
    if (!colon || colon == line) {
        return OK; /* a folded line of old, or nonsense */
    }
    if (response->header_count == transfer->received_room) {
        size_t room = transfer->received_room ? 2 * transfer->received_room : FIRST_HEADERS;
        struct fetch_header *headers =
            arena_realloc(call_arena(transfer->call), transfer->received,
                          transfer->received_room * sizeof *headers, room * sizeof *headers);
        if (!headers) {
            return ERR_NOMEM;
        }
        transfer->received = headers;
        transfer->received_room = room;
        response->headers = headers;
    }
    const char *value = colon + 1;
    const char *end = line + length;
    while (value < end && (*value == ' ' || *value == '\t')) {
        value++;
    }
    while (end > value && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    struct fetch_header *header = &transfer->received[response->header_count];
    header->name = arena_strndup(call_arena(transfer->call), line, (size_t)(colon - line));
    header->value = arena_strndup(call_arena(transfer->call), value, (size_t)(end - value));
    header->secret = false;
    if (!header->name || !header->value) {
        return ERR_NOMEM;
    }
    response->header_count++;
    return OK;
}

/* The status of "HTTP/1.1 200 OK" or "HTTP/2 200"; 0 when there is none. */
static int read_status(const char *line, size_t length)
{
    const char *blank = memchr(line, ' ', length);
    if (!blank || line + length - blank < 4) {
        return 0;
    }
    int status = 0;
    for (int i = 1; i <= 3; i++) {
        if (blank[i] < '0' || blank[i] > '9') {
            return 0;
        }
        status = status * 10 + (blank[i] - '0');
    }
    return status;
}

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t length = size * count;
    transfer->head_bytes += length;
    if (transfer->head_bytes > LIMIT_FETCH_HEAD_BYTES) {
        transfer->verdict = FETCH_TOO_LARGE;
        return 0;
    }
    size_t kept = length;
    while (kept && (data[kept - 1] == '\r' || data[kept - 1] == '\n')) {
        kept--;
    }
    if (kept > 5 && memcmp(data, "HTTP/", 5) == 0) {
        /* A new head: of the answer, after one that only said "continue". */
        transfer->response->header_count = 0;
        transfer->response->status = read_status(data, kept);
    } else if (kept && keep_header(transfer, data, kept) != OK) {
        transfer->verdict = FETCH_NOMEM;
        return 0;
    }
    return length;
}

/* When a request that begins, or goes on, now is over. */
static int64_t deadline_of(const struct fetch_request *request, int64_t now)
{
    int64_t deadline = request->timeout_ms > 0 ? now + request->timeout_ms : INT64_MAX;
    return request->until_ms && request->until_ms < deadline ? request->until_ms : deadline;
}

/* Hands a piece to whoever asked for it. What comes after enough is let go by, for a moment: then
 * the connection can be used again. */
static void hand_over(struct transfer *transfer, const char *data, size_t length)
{
    const struct fetch_request *request = transfer->request;
    int64_t now = clock_now_ms();
    transfer->taken_bytes += length;
    if (transfer->taken_bytes > transfer->max_body_bytes) {
        transfer->verdict = transfer->enough ? FETCH_OK : FETCH_TOO_LARGE;
        return;
    }
    if (transfer->enough) {
        return;
    }
    transfer->enough = !request->take(request->take_context, data, length);
    if (transfer->enough) {
        transfer->deadline_ms = now + TIME_REPLY_END_MS;
    } else if (!request->timeout_of_all) {
        transfer->deadline_ms = deadline_of(request, now);
    }
}

/* Takes what is unpacked; false: no more. */
static bool take_piece(void *context, const char *data, size_t length)
{
    struct transfer *transfer = context;
    if (transfer->request->take && transfer->response->status == 200) {
        hand_over(transfer, data, length);
        return transfer->verdict == FETCH_OK;
    }
    size_t room = transfer->max_kept_bytes - transfer->body.length;
    if (buf_append(&transfer->body, data, length < room ? length : room) != OK) {
        transfer->verdict = FETCH_NOMEM;
    } else if (length > room && transfer->request->take) {
        /* An error is known by its status and the beginning of its body: the rest is let go by. */
        transfer->deadline_ms =
            transfer->enough ? transfer->deadline_ms : clock_now_ms() + TIME_REPLY_END_MS;
        transfer->enough = true;
    } else if (length > room) {
        transfer->verdict = FETCH_TOO_LARGE;
    }
    return transfer->verdict == FETCH_OK;
}

/* Learns from the head how the body is compressed. */
static int find_codings(struct transfer *transfer)
{
    const struct fetch_response *response = transfer->response;
    const char *wrong = NULL;
    int status = OK;
    for (size_t i = 0; i < response->header_count && status == OK; i++) {
        if (strcasecmp(response->headers[i].name, "content-encoding") == 0) {
            status = codings_add(&transfer->codings, response->headers[i].value, &wrong);
        }
    }
    if (status == ERR_UNSUPPORTED) {
        transfer->broken =
            arena_printf(call_arena(transfer->call),
                         "the answer is compressed by \"%s\", which was not asked for", wrong);
    }
    return status;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t length = size * count;
    int status = transfer->body_began ? OK : find_codings(transfer);
    transfer->body_began = true;
    if (status == OK && transfer->codings) {
        /* What is compressed may be a little longer than what it stands for. */
        status =
            codings_unpack(transfer->codings, data, length,
                           transfer->max_body_bytes + LIMIT_FETCH_HEAD_BYTES, take_piece, transfer);
    } else if (status == OK) {
        status = take_piece(transfer, data, length) ? OK : ERR_LIMIT;
    }
    if (status != OK && transfer->verdict == FETCH_OK) {
        transfer->verdict = status == ERR_NOMEM   ? FETCH_NOMEM
                            : status == ERR_LIMIT ? FETCH_TOO_LARGE
                                                  : FETCH_BROKEN;
    }
    return status == OK ? length : 0;
}

/* ---- the options of libcurl ---- */

/* Adds to a list. The list is lost when there is no memory, so it is freed here. */
static int append(const struct curl_api *api, struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = text ? api->slist_append(*list, text) : NULL;
    if (!longer) {
        api->slist_free_all(*list);
    }
    *list = longer;
    return longer ? OK : ERR_NOMEM;
}

static int make_headers(struct transfer *transfer, const struct curl_api *api)
{
    const struct fetch_request *request = transfer->request;
    /* Without "Expect" a server is not asked whether it wants a large body: few answer, and the
     * wait is a second. */
    int status = append(api, &transfer->headers, "Expect:");
    for (size_t i = 0; i < request->header_count && status == OK; i++) {
        const struct fetch_header *header = &request->headers[i];
        /* libcurl takes a header without a value as "Name;". */
        status = append(api, &transfer->headers,
                        arena_printf(call_arena(transfer->call), "%s%s%s", header->name,
                                     *header->value ? ": " : ";", header->value));
    }
    return status;
}

/* Whether the URL has an address, which nobody looks up. */
static bool has_address(const struct url *url)
{
    uint8_t literal[16];
    return inet_pton(AF_INET, url->host, literal) == 1 || url_host_is_ipv6(url->host);
}

/* As it stands in an option of libcurl. */
static void put_address(struct buf *out, const struct sockaddr_storage *address)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (address->ss_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, sizeof text);
        buf_puts(out, text);
    } else {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text, sizeof text);
        buf_printf(out, "[%s]", text);
    }
}

/* "host:port:address:port", with one of IPv4 where there is one: few proxies have no IPv4. libcurl
 * asks for a tunnel then, also for plain HTTP, and Host and TLS still say the name. */
static int make_route(struct transfer *transfer, const struct curl_api *api,
                      const struct resolve_result *resolved)
{
    struct buf route;
    const struct url *url = transfer->request->url;
    size_t chosen = 0;
    while (chosen < resolved->count && resolved->addresses[chosen].ss_family != AF_INET) {
        chosen++;
    }
    chosen = chosen < resolved->count ? chosen : 0;
    buf_init(&route, KIB(1));
    buf_printf(&route, "%s:%d:", url->host, url->port);
    put_address(&route, &resolved->addresses[chosen]);
    buf_printf(&route, ":%d", url->port);
    int status = buf_error(&route) ? ERR_NOMEM : append(api, &transfer->route, route.data);
    buf_done(&route);
    return status;
}

/* "+host:port:address,address": the plus lets the entry go after a minute, so that a warm multi
 * does not collect the names of its whole life. */
static int make_pins(struct transfer *transfer, const struct curl_api *api,
                     const struct resolve_result *resolved)
{
    struct buf pin;
    buf_init(&pin, KIB(4));
    buf_printf(&pin, "+%s:%d:", transfer->request->url->host, transfer->request->url->port);
    for (size_t i = 0; i < resolved->count; i++) {
        buf_puts(&pin, i ? "," : "");
        put_address(&pin, &resolved->addresses[i]);
    }
    int status = buf_error(&pin) ? ERR_NOMEM : append(api, &transfer->pins, pin.data);
    buf_done(&pin);
    return status;
}

static void set_protocol(struct curl_options *options, const struct transfer *transfer)
{
    curl_set_pointer(options, CURLOPT_URL, transfer->request->url->text);
    curl_set_long(options, CURLOPT_PATH_AS_IS, 1);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_set_pointer(options, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_set_long(options, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
    curl_set_pointer(options, CURLOPT_ACCEPT_ENCODING, CODINGS_TAKEN);
    curl_set_long(options, CURLOPT_HTTP_CONTENT_DECODING, 0);
    curl_set_pointer(options, CURLOPT_USERAGENT, "forage/" FORAGE_VERSION);
    curl_set_pointer(options, CURLOPT_PROXY, transfer->proxy ? transfer->proxy : "");
    curl_set_pointer(options, CURLOPT_NOPROXY, "");
    curl_set_long(options, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
    trust_set(options);
}

static void set_behaviour(struct curl_options *options, struct transfer *transfer)
{
    curl_set_long(options, CURLOPT_NOSIGNAL, 1);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Leaving does not wait for a look-up of libcurl's own, which only the name of a proxy needs.
     */
    curl_try_long(options, CURLOPT_QUICK_EXIT, 1);
#endif
    curl_set_long(options, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIME_MS);
    curl_set_pointer(options, CURLOPT_PRIVATE, transfer);
    curl_set_pointer(options, CURLOPT_ERRORBUFFER, transfer->curl_error);
    curl_set_function(options, CURLOPT_OPENSOCKETFUNCTION, (curl_function)on_open_socket);
    curl_set_pointer(options, CURLOPT_OPENSOCKETDATA, transfer);
    curl_set_function(options, CURLOPT_PREREQFUNCTION, (curl_function)on_connected);
    curl_set_pointer(options, CURLOPT_PREREQDATA, transfer);
    curl_set_function(options, CURLOPT_HEADERFUNCTION, (curl_function)on_header);
    curl_set_pointer(options, CURLOPT_HEADERDATA, transfer);
    curl_set_function(options, CURLOPT_WRITEFUNCTION, (curl_function)on_body);
    curl_set_pointer(options, CURLOPT_WRITEDATA, transfer);
}

/* Hands the request to the lane; `resolved` are the addresses to go to, none where libcurl or the
 * proxy may look the name up. */
static int start(struct transfer *transfer, const struct resolve_result *resolved)
{
    struct lane *lane = transfer->lane;
    const struct curl_api *api = lane->api;
    transfer->easy = api->easy_init();
    int status = transfer->easy ? make_headers(transfer, api) : ERR_NOMEM;
    if (status == OK && resolved->count && !has_address(transfer->request->url)) {
        status = transfer->proxy ? make_route(transfer, api, resolved)
                                 : make_pins(transfer, api, resolved);
    }
    if (status != OK) {
        return status;
    }
    struct curl_options options = {.api = api, .easy = transfer->easy};
    set_protocol(&options, transfer);
    set_behaviour(&options, transfer);
    /* A body that says it is too large ends before its first byte. */
    curl_set_size(&options, CURLOPT_MAXFILESIZE_LARGE, transfer->max_body_bytes);
    if (transfer->request->body) {
        curl_set_size(&options, CURLOPT_POSTFIELDSIZE_LARGE, transfer->request->body_length);
        curl_set_pointer(&options, CURLOPT_POSTFIELDS, transfer->request->body);
    }
    curl_set_pointer(&options, CURLOPT_HTTPHEADER, transfer->headers);
    curl_set_pointer(&options, CURLOPT_RESOLVE, transfer->pins);
    curl_set_pointer(&options, CURLOPT_CONNECT_TO, transfer->route);
    curl_set_pointer(&options, CURLOPT_SHARE, lane->share);
    curl_set_pointer(&options, CURLOPT_COOKIEFILE, "");
    if (options.error != CURLE_OK ||
        api->multi_add_handle(lane->multi, transfer->easy) != CURLM_OK) {
        return ERR_NOMEM;
    }
    return OK;
}

static void stop(struct transfer *transfer)
{
    const struct curl_api *api = transfer->lane->api;
    if (transfer->easy) {
        api->multi_remove_handle(transfer->lane->multi, transfer->easy);
        api->easy_cleanup(transfer->easy);
    }
    api->slist_free_all(transfer->headers);
    api->slist_free_all(transfer->pins);
    api->slist_free_all(transfer->route);
}

/* ---- what it means ---- */

static const struct {
    CURLcode code;
    enum fetch_failure failure;
    const char *words;
} RESULTS[] = {
    {CURLE_URL_MALFORMAT, FETCH_BAD_REQUEST, "the URL is not valid"},
    {CURLE_COULDNT_RESOLVE_PROXY, FETCH_CONNECT, "the name of the proxy could not be looked up"},
    {CURLE_COULDNT_RESOLVE_HOST, FETCH_NAME_ERROR, "the name could not be looked up"},
    {CURLE_COULDNT_CONNECT, FETCH_CONNECT, "no connection could be made"},
    {CURLE_PROXY, FETCH_CONNECT, "the proxy refused"},
    {CURLE_OPERATION_TIMEDOUT, FETCH_TIMEOUT, "no connection could be made in time"},
    {CURLE_SSL_CONNECT_ERROR, FETCH_TLS, "no secure connection could be made"},
    {CURLE_PEER_FAILED_VERIFICATION, FETCH_TLS, "the certificate is not valid"},
    {CURLE_SSL_CACERT_BADFILE, FETCH_TLS, "the file of certificates cannot be read"},
    {CURLE_SSL_CIPHER, FETCH_TLS, "no secure connection could be made"},
    {CURLE_FILESIZE_EXCEEDED, FETCH_TOO_LARGE, "the answer is too large"},
    {CURLE_OUT_OF_MEMORY, FETCH_NOMEM, "out of memory"},
    {(CURLcode)100 /* CURLE_TOO_LARGE, since 8.6 */, FETCH_TOO_LARGE, "the answer is too large"},
    {CURLE_GOT_NOTHING, FETCH_BROKEN, "the server closed the connection without an answer"},
    {CURLE_PARTIAL_FILE, FETCH_BROKEN, CUT_OFF},
    {CURLE_RECV_ERROR, FETCH_BROKEN, "the connection broke"},
    {CURLE_SEND_ERROR, FETCH_BROKEN, "the connection broke"},
    {CURLE_BAD_CONTENT_ENCODING, FETCH_BROKEN, "the answer's compression is broken"},
    {CURLE_UNSUPPORTED_PROTOCOL, FETCH_BROKEN, "the answer is not HTTP"},
    {CURLE_WEIRD_SERVER_REPLY, FETCH_BROKEN, "the answer is not HTTP"},
};

static const struct {
    enum fetch_failure failure;
    const char *words;
} VERDICTS[] = {
    {FETCH_FORBIDDEN, "the address is not allowed"},
    {FETCH_TOO_LARGE, "the answer is too large"},
    {FETCH_NOMEM, "out of memory"},
    {FETCH_BROKEN, "the answer's compression is broken"},
};

/* Ends the request as failed. */
static int fail(struct transfer *transfer, enum fetch_failure failure, const char *words)
{
    const char *error =
        arena_printf(call_arena(transfer->call), "%s: %s", transfer->request->url->host, words);
    transfer->response->failure = failure;
    transfer->response->error = error ? error : words;
    return ERR_FAILED;
}

/* libcurl says "out of memory" also of a line that is longer than it takes; only newer versions
 * have a code of its own for it. */
static bool has_memory(void)
{
    void *volatile probe = malloc(4 * LIMIT_FETCH_HEAD_BYTES); /* really asked for */
    bool had = probe != NULL;
    free(probe);
    return had;
}

/* Whether the proxy answered that it makes no tunnel. */
static bool tunnel_refused(const struct transfer *transfer, long *status)
{
    *status = 0;
    return transfer->route &&
           transfer->lane->api->easy_getinfo(transfer->easy, CURLINFO_HTTP_CONNECTCODE, status) ==
               CURLE_OK &&
           *status >= 300;
}

/* Half an answer looks like a short one, and nobody who reads it could tell. */
static int judge_length(struct transfer *transfer)
{
    if (transfer->response->status == 206) {
        return fail(transfer, FETCH_BROKEN,
                    "the server sent a part of the answer, which was not asked for");
    }
    return codings_ended(transfer->codings) ? OK : fail(transfer, FETCH_BROKEN, CUT_OFF);
}

/* What libcurl's last word means. */
static int judge(struct transfer *transfer, CURLcode code)
{
    if (code == CURLE_OK || transfer->enough) {
        return transfer->enough ? OK : judge_length(transfer);
    }
    for (size_t i = 0; i < sizeof VERDICTS / sizeof *VERDICTS; i++) {
        if (VERDICTS[i].failure == transfer->verdict) {
            return fail(transfer, transfer->verdict,
                        transfer->broken ? transfer->broken : VERDICTS[i].words);
        }
    }
    if (code == CURLE_OUT_OF_MEMORY && has_memory()) {
        return fail(transfer, FETCH_TOO_LARGE, "a line of the answer's head is too large");
    }
    long proxy_status;
    if (tunnel_refused(transfer, &proxy_status)) {
        const char *words = arena_printf(
            call_arena(transfer->call),
            "the proxy answered HTTP %ld to the address that was checked; one that takes names "
            "alone needs FORAGE_PROXY_NAMES=yes",
            proxy_status);
        return fail(transfer, FETCH_PROXY, words ? words : "the proxy refused");
    }
    for (size_t i = 0; i < sizeof RESULTS / sizeof *RESULTS; i++) {
        if (RESULTS[i].code != code) {
            continue;
        }
        const char *words = RESULTS[i].words;
        if (RESULTS[i].failure == FETCH_TLS && transfer->curl_error[0]) {
            words =
                arena_printf(call_arena(transfer->call), "%s (%s)", words, transfer->curl_error);
        }
        return fail(transfer, RESULTS[i].failure, words ? words : RESULTS[i].words);
    }
    return fail(transfer, FETCH_BROKEN, "the exchange failed");
}

/* ---- the steps ---- */

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

static bool headers_are_sound(const struct fetch_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (!is_token(request->headers[i].name) || !is_value(request->headers[i].value)) {
            return false;
        }
    }
    return true;
}

/* Milliseconds that the request has left of its own time; never more than a minute. */
static int64_t time_left(const struct transfer *transfer)
{
    int64_t now = clock_now_ms();
    int64_t left = transfer->deadline_ms > now ? transfer->deadline_ms - now : 0;
    return left < LONGEST_WAIT_MS ? left : LONGEST_WAIT_MS;
}

static int fail_timeout(struct transfer *transfer)
{
    return fail(transfer, FETCH_TIMEOUT, "no answer in time");
}

static int await_name(struct transfer *transfer, struct resolve_query *query,
                      struct resolve_result *resolved)
{
    int status;
    while ((status = resolve_finish(query, resolved)) == ERR_BUSY) {
        struct pollfd ready = {.fd = resolve_fd(query), .events = POLLIN};
        int64_t left = time_left(transfer);
        int waited = left > 0 ? call_wait(transfer->call, &ready, 1, left) : 0;
        if (waited < 0) {
            return waited;
        }
        if (waited == 0 && time_left(transfer) == 0) {
            return fail_timeout(transfer);
        }
    }
    return status == OK             ? OK
           : status == ERR_NOTFOUND ? fail(transfer, FETCH_NO_NAME, resolved->problem)
           : status == ERR_NOMEM    ? fail(transfer, FETCH_NOMEM, resolved->problem)
           : status == ERR_LIMIT    ? fail(transfer, FETCH_BUSY, resolved->problem)
                                    : fail(transfer, FETCH_NAME_ERROR, resolved->problem);
}

/* One address that is not allowed is enough to refuse the host: what it is doing there is not our
 * question. */
static int look_up(struct transfer *transfer, struct resolve_result *resolved)
{
    const struct url *url = transfer->request->url;
    struct resolve_query *query;
    struct resolve_question question = {.resolver = call_parts(transfer->call)->resolver,
                                        .owner = call_owner(transfer->call),
                                        .from_kept = !transfer->request->allow,
                                        .host = url->host,
                                        .port = url->port};
    int status = resolve_start(&question, &query);
    if (status != OK) {
        return fail(transfer, status == ERR_NOMEM ? FETCH_NOMEM : FETCH_BUSY,
                    resolve_refusal(status));
    }
    status = await_name(transfer, query, resolved);
    resolve_free(query);
    for (size_t i = 0; status == OK && i < resolved->count; i++) {
        if (!allows(transfer, (struct sockaddr *)&resolved->addresses[i])) {
            status = fail(transfer, FETCH_FORBIDDEN, "the address is not allowed");
        }
    }
    return status;
}

/* Waits for libcurl's sockets, the cancellation or a deadline. */
static int wait_for_any(struct transfer *transfer)
{
    const struct lane *lane = transfer->lane;
    struct curl_waitfd cancel = {.fd = call_cancel_fd(transfer->call), .events = CURL_WAIT_POLLIN};
    int64_t wait = time_left(transfer);
    int64_t call_left = call_time_left_ms(transfer->call);
    int64_t word_left = call_sign_of_life(transfer->call);
    if (cancel.fd < 0) {
        return ERR_IO;
    }
    wait = call_left < wait ? call_left : wait;
    CURLMcode code = lane->api->multi_poll(lane->multi, &cancel, 1,
                                           (int)(word_left < wait ? word_left : wait), NULL);
    return code == CURLM_OK ? OK : ERR_IO;
}

/* Carries the transfer to its end. */
static int carry(struct transfer *transfer)
{
    const struct lane *lane = transfer->lane;
    int status = OK;
    int running = 0;
    int left;
    while ((status = call_check(transfer->call)) == OK) {
        if (lane->api->multi_perform(lane->multi, &running) != CURLM_OK) {
            return ERR_IO;
        }
        const CURLMsg *message = lane->api->multi_info_read(lane->multi, &left);
        if (message && message->msg == CURLMSG_DONE) {
            return judge(transfer, message->data.result);
        }
        if (time_left(transfer) == 0) {
            transfer->lane->broken |= transfer->enough;
            return transfer->enough ? OK : fail_timeout(transfer);
        }
        status = wait_for_any(transfer);
        if (status != OK) {
            return status;
        }
    }
    return status;
}

/* What came is there also when the transfer failed. */
static int keep_body(struct transfer *transfer)
{
    struct fetch_response *response = transfer->response;
    const char *body =
        transfer->body.length
            ? arena_strndup(call_arena(transfer->call), transfer->body.data, transfer->body.length)
            : "";
    if (!body) {
        return fail(transfer, FETCH_NOMEM, "out of memory");
    }
    response->body = body;
    response->body_length = transfer->body.length;
    response->content_type = fetch_header_value(response, "content-type");
    return response->failure == FETCH_OK ? OK : ERR_FAILED;
}

/* Where the proxy gets names, it may know one that we do not. */
static bool is_proxys_affair(const struct transfer *transfer)
{
    enum fetch_failure failure = transfer->response->failure;
    return transfer->proxy && net_sends_names(call_parts(transfer->call)->net) &&
           (failure == FETCH_NO_NAME || failure == FETCH_NAME_ERROR);
}

/* Finds and checks the addresses to go to. Without a policy a proxy looks the name up itself. */
static int find_addresses(struct transfer *transfer, struct resolve_result *resolved)
{
    resolved->count = 0;
    transfer->proxy = transfer->request->direct ? NULL : proxy_for(transfer->request->url);
    if (transfer->proxy && !transfer->request->allow) {
        return OK;
    }
    int status = look_up(transfer, resolved);
    if (status == ERR_FAILED && is_proxys_affair(transfer)) {
        transfer->response->failure = FETCH_OK;
        transfer->response->error = NULL;
        status = OK;
    }
    if (transfer->proxy && net_sends_names(call_parts(transfer->call)->net)) {
        resolved->count = 0;
    }
    return status;
}

static int run(struct transfer *transfer)
{
    struct resolve_result resolved;
    int status = call_check(transfer->call);
    if (status == OK) {
        status = find_addresses(transfer, &resolved);
    }
    if (status == OK) {
        status = start(transfer, &resolved);
        status = status == OK ? carry(transfer) : status;
    }
    stop(transfer);
    if (status == OK || status == ERR_FAILED) {
        status = keep_body(transfer);
    }
    return status;
}

/* Says to whoever looks for a mistake what was asked, and what came of it. */
static void tell(const struct transfer *transfer, int64_t began_us)
{
    const struct fetch_request *request = transfer->request;
    const struct fetch_response *response = transfer->response;
    const char *upstream = request->upstream ? request->upstream : "page";
    long long took_us = (long long)(clock_now_us() - began_us);
    call_note_http(transfer->call, request->upstream ? response->status : -response->status);
    log_private(call_request_id(transfer->call),
                "request=%s upstream=%s address=%s http=%d bytes=%zu ms=%lld.%03lld%s%s",
                request->body ? "POST" : "GET", upstream, request->url->text, response->status,
                response->body_length + transfer->taken_bytes, took_us / 1000, took_us % 1000,
                response->error ? " error=" : "", response->error ? response->error : "");
}

/* Ends a request that was never sent. */
static int refuse(struct fetch_response *response, const char *url, enum fetch_failure failure,
                  const char *words)
{
    *response = (struct fetch_response){.failure = failure, .error = words, .url = url, .body = ""};
    return ERR_FAILED;
}

int fetch_run(struct call *call, const struct fetch_request *request,
              struct fetch_response *response)
{
    const char *problem;
    int64_t began_us = clock_now_us();
    struct transfer transfer = {
        .call = call,
        .request = request,
        .response = response,
        .lane = request->lane ? request->lane : lane_lend(call, &problem),
        .deadline_ms = deadline_of(request, clock_now_ms()),
        .max_body_bytes =
            request->max_body_bytes ? request->max_body_bytes : LIMIT_FETCH_BODY_BYTES,
    };
    transfer.max_kept_bytes = transfer.max_body_bytes;
    *response = (struct fetch_response){.url = request->url->text, .body = ""};
    if (!transfer.lane) {
        return refuse(response, request->url->text, FETCH_UNAVAILABLE, problem);
    }
    if (request->take && transfer.max_kept_bytes > LIMIT_REPLY_ERROR_BYTES) {
        transfer.max_kept_bytes = LIMIT_REPLY_ERROR_BYTES;
    }
    buf_init(&transfer.body, transfer.max_kept_bytes);
    int status = headers_are_sound(request)
                     ? run(&transfer)
                     : refuse(response, request->url->text, FETCH_BAD_REQUEST,
                              "a header of the request is not valid");
    buf_done(&transfer.body);
    transfer.codings = codings_free(transfer.codings);
    /* A connection that HTTP/2 shares between requests would outlive one that was broken off. */
    transfer.lane->broken |= status != OK && status != ERR_FAILED;
    if (status == ERR_NOMEM || status == ERR_IO) {
        status = fail(&transfer, FETCH_NOMEM, "out of memory");
    } else if (status == ERR_CANCELLED || status == ERR_DEADLINE) {
        fail(&transfer, FETCH_TIMEOUT,
             status == ERR_DEADLINE ? "the call ran out of time" : "the call was cancelled");
    }
    tell(&transfer, began_us);
    if (!request->lane) {
        lane_return(transfer.lane);
    }
    return status;
}

int fetch_parse(struct call *call, const char *text, struct url *url,
                struct fetch_response *response)
{
    const char *problem = "is not valid";
    int status = url_parse(call_arena(call), text, url, &problem);
    if (status == OK) {
        return OK;
    }
    const char *words =
        status == ERR_NOMEM ? NULL : arena_printf(call_arena(call), "the URL %s", problem);
    return words ? refuse(response, text, FETCH_BAD_REQUEST, words)
                 : refuse(response, text, FETCH_NOMEM, "out of memory");
}

const char *fetch_header_value(const struct fetch_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcasecmp(response->headers[i].name, name) == 0) {
            return response->headers[i].value;
        }
    }
    return NULL;
}
