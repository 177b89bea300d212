/* The proxy variables, with the meaning that curl gives them: http_proxy is read in small letters
 * only (a web server would put a client's "Proxy:" header into HTTP_PROXY), the others in both;
 * no_proxy lists the exceptions. */
#include "net/fetch_proxy.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *scheme; /* NULL: any */
    const char *variable;
} VARIABLES[] = {
    {"http", "http_proxy"}, {"https", "https_proxy"}, {"https", "HTTPS_PROXY"},
    {NULL, "all_proxy"},    {NULL, "ALL_PROXY"},
};

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Whether the address `host` lies in the range `text`, written as 10.0.0.0/8 or fd00::/8. */
static bool in_range(const char *text, size_t length, const char *host)
{
    char network[INET6_ADDRSTRLEN];
    uint8_t wanted[16];
    uint8_t given[16];
    const char *slash = memchr(text, '/', length);
    size_t network_length = slash ? (size_t)(slash - text) : length;
    int family = url_host_is_ipv6(host) ? AF_INET6 : AF_INET;
    unsigned long most_bits = family == AF_INET6 ? 128 : 32;
    if (network_length >= sizeof network) {
        return false;
    }
    memcpy(network, text, network_length);
    network[network_length] = '\0';
    if (inet_pton(family, network, wanted) != 1 || inet_pton(family, host, given) != 1) {
        return false;
    }
    unsigned long bits = slash ? strtoul(slash + 1, NULL, 10) : most_bits;
    if (bits > most_bits) {
        return false;
    }
    size_t whole = bits / 8;
    unsigned rest = bits % 8;
    return memcmp(wanted, given, whole) == 0 &&
           (rest == 0 || (wanted[whole] ^ given[whole]) >> (8 - rest) == 0);
}

/* Whether `host` is the name or lies below it. */
static bool in_domain(const char *name, size_t length, const char *host)
{
    size_t host_length = strlen(host);
    while (length && *name == '.') {
        name++;
        length--;
    }
    while (length && name[length - 1] == '.') {
        length--;
    }
    if (length == 0 || length > host_length ||
        strncasecmp(host + host_length - length, name, length) != 0) {
        return false;
    }
    return length == host_length || host[host_length - length - 1] == '.';
}

static bool is_exempt(const char *list, const char *host)
{
    static const char SEPARATORS[] = ", \t";
    while (*list) {
        size_t length = strcspn(list, SEPARATORS);
        if ((length == 1 && *list == '*') || in_domain(list, length, host) ||
            (length && in_range(list, length, host))) {
            return true;
        }
        list += length;
        list += strspn(list, SEPARATORS);
    }
    return false;
}

const char *fetch_proxy(const struct url *url)
{
    const char *exempt = variable("no_proxy");
    if (!exempt) {
        exempt = variable("NO_PROXY");
    }
    if (exempt && is_exempt(exempt, url->host)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
        bool fits = !VARIABLES[i].scheme || strcmp(VARIABLES[i].scheme, url->scheme) == 0;
        const char *proxy = fits ? variable(VARIABLES[i].variable) : NULL;
        if (proxy) {
            return proxy;
        }
    }
    return NULL;
}
