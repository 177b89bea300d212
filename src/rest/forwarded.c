/* Where a request really comes from, and by which address its client knows this server: what the
 * connection says, or what a proxy says that the operator named (guard/proxies.h). */
#include "core/clock.h"
#include "rest/http.h"

#include <stdio.h>
#include <string.h>

/* The last header of that name. Some proxies write one of their own behind the client's. */
static struct slice last_header(const struct exchange *exchange, const char *name)
{
    const struct http_request *request = exchange_request(exchange);
    struct slice found = {0};
    for (size_t i = 0; i < request->header_count; i++) {
        if (slice_is_any_case(request->headers[i].name, name)) {
            found = request->headers[i].value;
        }
    }
    return found;
}

/* Takes the last entry off a list that proxies append to. */
static struct slice take_last(struct slice *list)
{
    struct slice last = *list;
    size_t comma = list->length;
    while (comma > 0 && list->data[comma - 1] != ',') {
        comma--;
    }
    last.data += comma;
    last.length -= comma;
    list->length = comma ? comma - 1 : 0;
    return slice_trim(last);
}

/* What the nearest proxy wrote, where it is one whose word counts; otherwise nothing. */
static struct slice forwarded(const struct http_door *door, const struct exchange *exchange,
                              const char *name)
{
    if (!proxies_hold(door->app->proxies, exchange_peer(exchange))) {
        return (struct slice){0};
    }
    struct slice list = last_header(exchange, name);
    return list.length ? take_last(&list) : list;
}

/* "192.0.2.7", "192.0.2.7:5123", "[2001:db8::1]:5123" as an address of its usual spelling. */
static bool read_address(struct slice entry, char address[ADDRESS_SIZE])
{
    struct address plain;
    char text[ADDRESS_SIZE + 2];
    size_t colons = 0;
    for (size_t i = 0; i < entry.length; i++) {
        colons += entry.data[i] == ':';
    }
    bool bare = colons > 1 && entry.data[0] != '['; /* IPv6, whose colons begin no port */
    if (bare && entry.length < sizeof text) {
        snprintf(text, sizeof text, "%.*s", (int)entry.length, entry.data);
    } else if (bare || !host_without_port(entry, text, sizeof text)) {
        return false;
    }
    size_t length = strlen(text);
    if (text[0] == '[') {
        memmove(text, text + 1, length - 2);
        text[length - 2] = '\0';
    }
    return address_read(text, &plain) && address_write(&plain, address);
}

void client_address(const struct http_door *door, const struct exchange *exchange,
                    char address[ADDRESS_SIZE])
{
    snprintf(address, ADDRESS_SIZE, "%s", exchange_peer(exchange));
    struct slice list = last_header(exchange, "X-Forwarded-For");
    char before[ADDRESS_SIZE];
    while (list.length && proxies_hold(door->app->proxies, address) &&
           read_address(take_last(&list), before)) {
        memcpy(address, before, ADDRESS_SIZE);
    }
}

const char *session_of(const struct http_door *door, const struct exchange *exchange,
                       const char *label, char session[SESSION_NAME_SIZE])
{
    char address[ADDRESS_SIZE];
    char day[ADMISSION_DAY_SIZE];
    if (!door->app->parts.experiments || label) {
        return door->app->parts.experiments ? label : NULL;
    }
    client_address(door, exchange, address);
    admission_day(clock_wall_ms(), day);
    snprintf(session, SESSION_NAME_SIZE, "%s %s", address, day);
    return session;
}

struct slice host_of(const struct http_door *door, const struct exchange *exchange)
{
    struct slice host = forwarded(door, exchange, "X-Forwarded-Host");
    return host.length ? host : exchange_header(exchange, "Host", NULL);
}

void write_base_url(struct buf *out, const struct http_door *door, const struct exchange *exchange)
{
    struct slice host = host_of(door, exchange);
    bool secure = slice_is_any_case(forwarded(door, exchange, "X-Forwarded-Proto"), "https");
    const char *usual_port = secure ? ":443" : ":80";
    size_t length = strlen(usual_port);
    if (host.length > length && memcmp(host.data + host.length - length, usual_port, length) == 0) {
        host.length -= length; /* as browsers write it */
    }
    buf_printf(out, "%s://%.*s", secure ? "https" : "http", (int)host.length, host.data);
}
