/* What libcurl is told about a hop, its callbacks, and what its results mean. */
#include "net/fetch_transfer.h"

#include "core/limits.h"
#include "net/curl_trust.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define CONNECT_TIME_MS 10000L
#define REDIRECT_BODY_BYTES                                                                        \
    KIB(16) /* read to keep the connection; beyond it closing is cheaper                           \
             */
#define FIRST_HEADERS 16

/* ---- the policy ---- */

bool fetch_transfer_allows(const struct fetch_transfer *transfer, const struct sockaddr *address)
{
    const struct fetch_request *request = transfer->request;
    return !request->allow ||
           request->allow(request->allow_context, transfer->url.host, address) == OK;
}

/* Before a socket is connected. The address was checked when it was resolved; this holds even if
 * libcurl came by another one. */
static curl_socket_t on_open_socket(void *context, curlsocktype purpose,
                                    struct curl_sockaddr *address)
{
    struct fetch_transfer *transfer = context;
    (void)purpose;
    if (!transfer->proxy && !fetch_transfer_allows(transfer, &address->addr)) {
        transfer->verdict = FETCH_FORBIDDEN;
        return CURL_SOCKET_BAD;
    }
    int type = address->socktype;
#ifdef SOCK_CLOEXEC
    type |= SOCK_CLOEXEC;
#endif
    return socket(address->family, type, address->protocol);
}

/* Before a request is sent, also on a connection that an earlier request with another policy
 * opened. */
static int on_connected(void *context, char *address, char *local_address, int port, int local_port)
{
    struct fetch_transfer *transfer = context;
    struct sockaddr_storage peer = {0};
    struct sockaddr_in *ipv4 = (struct sockaddr_in *)&peer;
    struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)&peer;
    (void)local_address;
    (void)local_port;
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
    if (!fetch_transfer_allows(transfer, (struct sockaddr *)&peer)) {
        transfer->verdict = FETCH_FORBIDDEN;
        return CURL_PREREQFUNC_ABORT;
    }
    return CURL_PREREQFUNC_OK;
}

/* ---- what comes ---- */

static int keep_header(struct fetch_transfer *transfer, const char *line, size_t length)
{
    struct fetch_response *response = &transfer->response;
    const char *colon = memchr(line, ':', length);
    if (!colon || colon == line) {
        return OK; /* a folded line of old, or nonsense */
    }
    if (response->header_count == transfer->received_room) {
        size_t room = transfer->received_room ? 2 * transfer->received_room : FIRST_HEADERS;
        struct fetch_header *headers =
            arena_realloc(transfer->arena, transfer->received,
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
    header->name = arena_strndup(transfer->arena, line, (size_t)(colon - line));
    header->value = arena_strndup(transfer->arena, value, (size_t)(end - value));
    header->secret = false;
    if (!header->name || !header->value) {
        return ERR_NOMEM;
    }
    response->header_count++;
    return OK;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* After the empty line of a head. */
static void end_head(struct fetch_transfer *transfer)
{
    transfer->redirecting = is_redirect(transfer->response.status) &&
                            transfer->max_redirects != FETCH_NO_REDIRECTS &&
                            fetch_header_value(&transfer->response, "location");
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
    struct fetch_transfer *transfer = context;
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
    if (kept == 0) {
        end_head(transfer);
    } else if (kept > 5 && memcmp(data, "HTTP/", 5) == 0) {
        /* A new head: of the answer, after one that only said "continue". */
        transfer->response.header_count = 0;
        transfer->response.status = read_status(data, kept);
    } else if (keep_header(transfer, data, kept) != OK) {
        transfer->verdict = FETCH_NOMEM;
        return 0;
    }
    return length;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct fetch_transfer *transfer = context;
    const struct fetch_request *request = transfer->request;
    size_t length = size * count;
    bool success = transfer->response.status / 100 == 2;
    transfer->body_bytes += length;
    if (transfer->redirecting) {
        return transfer->body_bytes > REDIRECT_BODY_BYTES ? 0 : length;
    }
    if (request->on_body && success) {
        if (transfer->body_bytes > transfer->max_body_bytes) {
            transfer->verdict = FETCH_TOO_LARGE;
        } else if (request->on_body(request->on_body_context, data, length) != OK) {
            transfer->verdict = FETCH_STOPPED;
        }
        return transfer->verdict == FETCH_OK ? length : 0;
    }
    size_t room = transfer->max_body_bytes - transfer->body.length;
    int status = buf_append(&transfer->body, data, length < room ? length : room);
    if (status != OK) {
        transfer->verdict = FETCH_NOMEM;
    } else if (length > room) {
        transfer->verdict = FETCH_TOO_LARGE;
    }
    return transfer->verdict == FETCH_OK ? length : 0;
}

/* ---- what libcurl is told ---- */

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

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether a header of the request still belongs to it after its redirects. */
static bool is_wanted(const struct fetch_transfer *transfer, const struct fetch_header *header)
{
    static const char *const CREDENTIALS[] = {"authorization", "cookie", "proxy-authorization"};
    static const char *const OF_BODY[] = {"content-type", "content-length", "content-encoding",
                                          "content-language", "content-location"};
    if (transfer->without_credentials &&
        (header->secret ||
         is_one_of(header->name, CREDENTIALS, sizeof CREDENTIALS / sizeof *CREDENTIALS))) {
        return false;
    }
    return !transfer->without_body ||
           !is_one_of(header->name, OF_BODY, sizeof OF_BODY / sizeof *OF_BODY);
}

static int make_headers(struct fetch_transfer *transfer, const struct curl_api *api)
{
    const struct fetch_request *request = transfer->request;
    /* Without "Expect" a server is not asked whether it wants a large body: few answer, and the
     * wait is a second. */
    int status = append(api, &transfer->headers, "Expect:");
    for (size_t i = 0; i < request->header_count && status == OK; i++) {
        const struct fetch_header *header = &request->headers[i];
        if (is_wanted(transfer, header)) {
            /* libcurl takes a header without a value as "Name;". */
            status = append(api, &transfer->headers,
                            arena_printf(transfer->arena, "%s%s%s", header->name,
                                         *header->value ? ": " : ";", header->value));
        }
    }
    return status;
}

/* "+host:port:address,address": the plus lets the entry go after a minute, so that a warm multi
 * does not collect the names of its whole life. */
static int make_pins(struct fetch_transfer *transfer, const struct curl_api *api,
                     const struct resolve_result *resolved)
{
    struct buf pin;
    uint8_t literal[16];
    const char *host = transfer->url.host;
    if (!resolved || inet_pton(AF_INET, host, literal) == 1 || url_host_is_ipv6(host)) {
        return OK; /* an address needs no pin */
    }
    buf_init(&pin, KIB(4));
    buf_printf(&pin, "+%s:%d:", host, transfer->url.port);
    for (size_t i = 0; i < resolved->count; i++) {
        const struct sockaddr_storage *address = &resolved->addresses[i];
        char text[INET6_ADDRSTRLEN] = "";
        if (address->ss_family == AF_INET) {
            inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, sizeof text);
            buf_printf(&pin, "%s%s", i ? "," : "", text);
        } else {
            inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text,
                      sizeof text);
            buf_printf(&pin, "%s[%s]", i ? "," : "", text);
        }
    }
    int status = buf_error(&pin) ? ERR_NOMEM : append(api, &transfer->pins, pin.data);
    buf_done(&pin);
    return status;
}

static void set_method(struct curl_options *options, const struct fetch_transfer *transfer)
{
    const struct fetch_request *request = transfer->request;
    const char *method = transfer->method ? transfer->method : "GET";
    if (request->body && !transfer->without_body) {
        curl_set_size(options, CURLOPT_POSTFIELDSIZE_LARGE, request->body_length);
        curl_set_text(options, CURLOPT_POSTFIELDS, request->body);
        curl_set_text(options, CURLOPT_CUSTOMREQUEST, method);
    } else if (strcmp(method, "HEAD") == 0) {
        curl_set_long(options, CURLOPT_NOBODY, 1);
    } else if (strcmp(method, "GET") != 0) {
        curl_set_text(options, CURLOPT_CUSTOMREQUEST, method);
    }
    if (strcmp(method, "HEAD") != 0) {
        /* A body that says it is too large ends before its first byte. */
        curl_set_size(options, CURLOPT_MAXFILESIZE_LARGE, transfer->max_body_bytes);
    }
}

static void set_protocol(struct curl_options *options, const struct fetch_transfer *transfer)
{
    curl_set_text(options, CURLOPT_URL, transfer->url.text);
    curl_set_long(options, CURLOPT_PATH_AS_IS, 1);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_set_text(options, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_set_long(options, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
    curl_set_text(options, CURLOPT_ACCEPT_ENCODING, "");
    curl_set_text(options, CURLOPT_USERAGENT, "forage/" FORAGE_VERSION);
    curl_set_text(options, CURLOPT_PROXY, transfer->proxy ? transfer->proxy : "");
    curl_set_text(options, CURLOPT_NOPROXY, "");
    curl_set_long(options, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
    curl_trust_set(options);
}

static void set_behaviour(struct curl_options *options, struct fetch_transfer *transfer)
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

void fetch_transfer_forget(struct fetch_transfer *transfer)
{
    transfer->response.status = 0;
    transfer->response.header_count = 0;
    transfer->head_bytes = 0;
    transfer->body_bytes = 0;
    transfer->redirecting = false;
    transfer->verdict = FETCH_OK;
    transfer->curl_error[0] = '\0';
    buf_clear(&transfer->body);
}

int fetch_transfer_start(struct fetch_transfer *transfer, struct curl_lane *lane,
                         const struct resolve_result *resolved)
{
    const struct curl_api *api = lane->api;
    transfer->easy = api->easy_init();
    if (!transfer->easy || make_headers(transfer, api) != OK ||
        make_pins(transfer, api, resolved) != OK) {
        return ERR_NOMEM;
    }
    struct curl_options options = {.api = api, .easy = transfer->easy};
    set_protocol(&options, transfer);
    set_behaviour(&options, transfer);
    set_method(&options, transfer);
    curl_set_pointer(&options, CURLOPT_HTTPHEADER, transfer->headers);
    curl_set_pointer(&options, CURLOPT_RESOLVE, transfer->pins);
    curl_set_pointer(&options, CURLOPT_SHARE, lane->share);
    curl_set_text(&options, CURLOPT_COOKIEFILE, "");
    if (options.error != CURLE_OK ||
        api->multi_add_handle(lane->multi, transfer->easy) != CURLM_OK) {
        return ERR_NOMEM;
    }
    return OK;
}

void fetch_transfer_stop(struct fetch_transfer *transfer, struct curl_lane *lane)
{
    transfer->query = resolve_free(transfer->query);
    if (transfer->easy) {
        lane->api->multi_remove_handle(lane->multi, transfer->easy);
        lane->api->easy_cleanup(transfer->easy);
        transfer->easy = NULL;
    }
    if (lane) {
        lane->api->slist_free_all(transfer->headers);
        lane->api->slist_free_all(transfer->pins);
    }
    transfer->headers = NULL;
    transfer->pins = NULL;
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
    {CURLE_GOT_NOTHING, FETCH_BROKEN, "the server closed the connection without an answer"},
    {CURLE_PARTIAL_FILE, FETCH_BROKEN, "the answer was cut off"},
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
    {FETCH_STOPPED, "the transfer was stopped"},
    {FETCH_NOMEM, "out of memory"},
};

enum fetch_failure fetch_transfer_verdict(struct fetch_transfer *transfer, CURLcode code,
                                          const char **error)
{
    *error = "the exchange failed";
    if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && transfer->redirecting)) {
        return FETCH_OK;
    }
    for (size_t i = 0; i < sizeof VERDICTS / sizeof *VERDICTS; i++) {
        if (VERDICTS[i].failure == transfer->verdict) {
            *error = VERDICTS[i].words;
            return transfer->verdict;
        }
    }
    for (size_t i = 0; i < sizeof RESULTS / sizeof *RESULTS; i++) {
        if (RESULTS[i].code != code) {
            continue;
        }
        *error = RESULTS[i].words;
        if (RESULTS[i].failure == FETCH_TLS && transfer->curl_error[0]) {
            *error =
                arena_printf(transfer->arena, "%s (%s)", RESULTS[i].words, transfer->curl_error);
        }
        return RESULTS[i].failure;
    }
    return FETCH_BROKEN;
}
