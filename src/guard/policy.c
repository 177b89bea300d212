/* The address policy: what is not public as a table, and what an operator opened as a list. The
 * ranges are those of the IANA special-purpose address registries; what no registry gives out is
 * refused too. */
#include "guard/policy.h"

#include "core/limits.h"
#include "core/status.h"
#include "guard/ranges.h"
#include "text/slice.h"
#include "text/url.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ENTRIES 256

static const struct range IPV4_NOT_PUBLIC[] = {
    {{0}, 8},                   /* unspecified */
    {{10}, 8},                  /* private */
    {{100, 64}, 10},            /* shared by a carrier */
    {{127}, 8},                 /* loopback */
    {{168, 63, 129, 16}, 32},   /* cloud metadata */
    {{169, 254, 169, 254}, 32}, /* cloud metadata */
    {{169, 254}, 16},           /* link-local */
    {{172, 16}, 12},            /* private */
    {{192, 0, 0}, 24},          /* reserved */
    {{192, 0, 2}, 24},          /* documentation */
    {{192, 88, 99}, 24},        /* reserved */
    {{192, 168}, 16},           /* private */
    {{198, 18}, 15},            /* benchmarking */
    {{198, 51, 100}, 24},       /* documentation */
    {{203, 0, 113}, 24},        /* documentation */
    {{224}, 4},                 /* multicast */
    {{255, 255, 255, 255}, 32}, /* broadcast */
    {{240}, 4},                 /* reserved */
};

enum range_verdict { PUBLIC, NOT_PUBLIC, AS_INSIDE };

/* In this order: the first range that fits decides. `inside` is where an IPv4 address lies that is
 * judged instead. Teredo hides its client's address behind a server of anyone's choice, and the
 * local NAT64 range is translated as the local network likes: both are refused. */
static const struct {
    struct range range;
    enum range_verdict verdict;
    size_t inside; /* with AS_INSIDE */
} IPV6_RANGES[] = {
    {{{0}, 128}, NOT_PUBLIC, 0},        /* unspecified */
    {{{[15] = 1}, 128}, NOT_PUBLIC, 0}, /* loopback */
    {{{[10] = 0xff, [11] = 0xff}, 96}, AS_INSIDE, 12},
    {{{0}, 96}, NOT_PUBLIC, 0}, /* reserved */
    {{{0x00, 0x64, 0xff, 0x9b}, 96}, AS_INSIDE, 12},
    {{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48}, NOT_PUBLIC, 0}, /* local translation */
    {{{0x01, 0x00}, 64}, NOT_PUBLIC, 0},                         /* discard */
    {{{0x20, 0x01, 0x00, 0x00}, 32}, NOT_PUBLIC, 0},             /* a Teredo tunnel */
    {{{0x20, 0x01, 0x00, 0x02}, 48}, NOT_PUBLIC, 0},             /* benchmarking */
    {{{0x20, 0x01, 0x00, 0x00}, 23}, NOT_PUBLIC, 0},             /* reserved */
    {{{0x20, 0x01, 0x0d, 0xb8}, 32}, NOT_PUBLIC, 0},             /* documentation */
    {{{0x20, 0x02}, 16}, AS_INSIDE, 2},
    {{{0x3f, 0xff, 0x00}, 20}, NOT_PUBLIC, 0}, /* documentation */
    {{{0xfc}, 7}, NOT_PUBLIC, 0},              /* private */
    {{{0xfe, 0x80}, 10}, NOT_PUBLIC, 0},       /* link-local */
    {{{0xfe, 0xc0}, 10}, NOT_PUBLIC, 0},       /* private */
    {{{0xff}, 8}, NOT_PUBLIC, 0},              /* multicast */
    {{{0x20}, 3}, PUBLIC, 0},
    {{{0}, 0}, NOT_PUBLIC, 0}, /* reserved */
};

static bool ipv4_is_public(const uint8_t bytes[4])
{
    for (size_t i = 0; i < sizeof IPV4_NOT_PUBLIC / sizeof *IPV4_NOT_PUBLIC; i++) {
        if (range_holds(&IPV4_NOT_PUBLIC[i], bytes)) {
            return false;
        }
    }
    return true;
}

static bool ipv6_is_public(const uint8_t bytes[16])
{
    size_t i = 0;
    while (!range_holds(&IPV6_RANGES[i].range, bytes)) {
        i++; /* the last row holds everything */
    }
    return IPV6_RANGES[i].verdict == AS_INSIDE ? ipv4_is_public(bytes + IPV6_RANGES[i].inside)
                                               : IPV6_RANGES[i].verdict == PUBLIC;
}

static bool is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, address, sizeof ipv4);
        return ipv4_is_public((const uint8_t *)&ipv4.sin_addr);
    }
    struct sockaddr_in6 ipv6 = {0};
    if (address->sa_family == AF_INET6) {
        memcpy(&ipv6, address, sizeof ipv6);
    }
    return address->sa_family == AF_INET6 && ipv6_is_public(ipv6.sin6_addr.s6_addr);
}

/* ---- what an operator opened ---- */

struct policy_entry {
    char host[URL_HOST_SIZE]; /* empty: the range counts */
    bool ipv6;
    struct range range;
    int port; /* 0: every port */
};

struct policy {
    size_t count;
    struct policy_entry entries[];
};

/* Takes ":8080" off the end of `text`. False when what stands there is no port. */
static bool take_port(char *text, struct policy_entry *entry)
{
    char *colon = strrchr(text, ':');
    char *bracket = strrchr(text, ']');
    /* More than one colon without brackets is an IPv6 address. */
    bool has_port = colon && (bracket ? colon > bracket : strchr(text, ':') == colon);
    if (!has_port) {
        return true;
    }
    char *end;
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end || port == 0 || port > UINT16_MAX) {
        return false;
    }
    entry->port = (int)port;
    *colon = '\0';
    return true;
}

static int read_entry(struct slice text, struct policy_entry *entry)
{
    char copy[URL_HOST_SIZE + 16];
    if (text.length >= sizeof copy) {
        return ERR_INVALID;
    }
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    /* A star would look like a pattern and open nothing. */
    if (strchr(copy, '*') || !take_port(copy, entry)) {
        return ERR_INVALID;
    }
    if (strchr(copy, '/') || (copy[0] != '[' && strchr(copy, ':'))) {
        return range_read(copy, &entry->range, &entry->ipv6) ? OK : ERR_INVALID;
    }
    /* A name stays a name; an address in any spelling becomes a range of one. */
    int status = url_host(copy, strlen(copy), entry->host, NULL);
    if (status == OK && range_read(entry->host, &entry->range, &entry->ipv6)) {
        entry->host[0] = '\0';
    }
    return status;
}

static struct policy *make_room(const char *allowed, char *problem, size_t size)
{
    size_t entries = 1;
    for (const char *comma = strchr(allowed, ','); comma; comma = strchr(comma + 1, ',')) {
        entries++;
    }
    if (entries > MOST_ENTRIES) {
        snprintf(problem, size, "has more than %d entries", MOST_ENTRIES);
        return NULL;
    }
    struct policy *policy = calloc(1, sizeof *policy + entries * sizeof(struct policy_entry));
    if (!policy) {
        snprintf(problem, size, "needs too much memory");
    }
    return policy;
}

struct policy *policy_new(const char *allowed, char *problem, size_t size)
{
    const char *at = allowed ? allowed : "";
    struct policy *policy = make_room(at, problem, size);
    while (policy && *at) {
        size_t room = strcspn(at, ",");
        struct slice text = slice_trim((struct slice){at, room});
        if (text.length && read_entry(text, &policy->entries[policy->count++]) != OK) {
            snprintf(problem, size, "has \"%.*s\", which is no host, host:port, address or range",
                     (int)text.length, text.data);
            return policy_free(policy);
        }
        at += room + (at[room] == ',');
    }
    return policy;
}

struct policy *policy_free(struct policy *policy)
{
    free(policy);
    return NULL;
}

static int port_of(const struct sockaddr *address)
{
    struct sockaddr_in ipv4; /* the port lies at the same place in both families */
    memcpy(&ipv4, address, sizeof ipv4);
    return ntohs(ipv4.sin_port);
}

static bool opens(const struct policy_entry *entry, const char *host, const struct address *plain,
                  int port)
{
    if (entry->port && entry->port != port) {
        return false;
    }
    if (entry->host[0]) {
        return strcmp(entry->host, host) == 0;
    }
    return entry->ipv6 == plain->ipv6 && range_holds(&entry->range, plain->bytes);
}

int policy_allow(void *policy, const char *host, const struct sockaddr *address)
{
    const struct policy *list = policy;
    struct address plain;
    if (is_public(address)) {
        return OK;
    }
    if (!list || !address_of(address, &plain)) {
        return ERR_INVALID;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (opens(&list->entries[i], host, &plain, port_of(address))) {
            return OK;
        }
    }
    return ERR_INVALID;
}
