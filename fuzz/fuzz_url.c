/* Fuzzes URLs. The input is a base and a reference, one line each. Whatever they are: a URL that
 * was accepted is written in printable ASCII within the limit, its parts make up the whole, and
 * reading it again changes nothing. */
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "text/url.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what, const char *text)
{
    if (!holds) {
        fprintf(stderr, "fuzz_url: %s: %s\n", what, text);
        abort();
    }
}

static void check_host(const struct url *url)
{
    uint8_t address[16];
    size_t length = strlen(url->host);
    require(length > 0 && length < URL_HOST_SIZE, "host length", url->text);
    if (url_host_is_ipv6(url->host)) {
        require(inet_pton(AF_INET6, url->host, address) == 1, "IPv6", url->text);
        return;
    }
    /* A name that ends in a number is an IPv4 address in its only spelling. */
    const char *last = strrchr(url->host, '.');
    last = last ? last + 1 : url->host;
    if (strspn(last, "0123456789") == strlen(last)) {
        require(inet_pton(AF_INET, url->host, address) == 1, "IPv4", url->text);
    }
    require(!strpbrk(url->host, "ABCDEFGHIJKLMNOPQRSTUVWXYZ @:/?#%\\[]"), "host", url->text);
}

/* The parts, put together again, are the text. */
static void check_parts(const struct url *url)
{
    struct buf whole;
    buf_init(&whole, 2 * LIMIT_URL_BYTES);
    int ipv6 = url_host_is_ipv6(url->host);
    buf_printf(&whole, "%s://%s%s%s", url->scheme, ipv6 ? "[" : "", url->host, ipv6 ? "]" : "");
    int usual = strcmp(url->scheme, "http") == 0 ? 80 : 443;
    if (url->port != usual) {
        buf_printf(&whole, ":%d", url->port);
    }
    buf_puts(&whole, url->path);
    if (url->query) {
        buf_printf(&whole, "?%s", url->query);
    }
    if (url->fragment) {
        buf_printf(&whole, "#%s", url->fragment);
    }
    require(strcmp(whole.data, url->text) == 0, "parts", url->text);
    buf_done(&whole);
}

static void check(struct arena *arena, const struct url *url)
{
    size_t length = strlen(url->text);
    require(length <= LIMIT_URL_BYTES, "length", url->text);
    for (size_t i = 0; i < length; i++) {
        require(url->text[i] > ' ' && url->text[i] < 0x7f, "characters", url->text);
    }
    require(url->path[0] == '/', "path", url->text);
    require(!strstr(url->path, "/../") && !strstr(url->path, "/./"), "dots", url->text);
    require(url->port > 0 && url->port <= 65535, "port", url->text);
    check_host(url);
    check_parts(url);
    struct url again;
    require(url_parse(arena, url->text, &again, NULL) == OK, "read again", url->text);
    require(strcmp(again.text, url->text) == 0, "not idempotent", url->text);
    require(url_same_origin(url, &again), "origin", url->text);
}

static void check_escapes(struct arena *arena, const char *text)
{
    struct buf encoded;
    buf_init(&encoded, 4 * LIMIT_URL_BYTES);
    size_t length;
    if (url_encode(&encoded, text, strlen(text)) == OK && encoded.data) {
        char *decoded = url_decode(arena, encoded.data, encoded.length, &length);
        require(decoded && length == strlen(text) && strcmp(decoded, text) == 0, "escapes", text);
    }
    buf_done(&encoded);
    url_decode(arena, text, strlen(text), &length);
    require(length <= strlen(text), "decoded length", text);
}

FUZZ_TARGET(url)
{
    struct arena *arena = arena_new(MIB(1));
    char *text = arena ? arena_strndup(arena, (const char *)data, size) : NULL;
    if (!text) {
        arena_free(arena);
        return 0;
    }
    char *reference = strchr(text, '\n');
    if (reference) {
        *reference++ = '\0';
    }
    struct url base;
    struct url url;
    if (url_parse(arena, text, &base, NULL) == OK) {
        check(arena, &base);
        if (reference && url_resolve(arena, &base, reference, &url, NULL) == OK) {
            check(arena, &url);
        }
    }
    check_escapes(arena, text);
    arena_free(arena);
    return 0;
}
