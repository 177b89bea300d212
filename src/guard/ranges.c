/* Addresses and ranges of them: reading and comparing. */
#include "guard/ranges.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

bool range_holds(const struct range *range, const uint8_t *bytes)
{
    size_t whole = range->bits / 8;
    unsigned rest = range->bits % 8;
    if (memcmp(range->bytes, bytes, whole) != 0) {
        return false;
    }
    return rest == 0 || (range->bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0;
}

bool range_read(const char *text, struct range *range, bool *ipv6)
{
    char address[INET6_ADDRSTRLEN];
    size_t length = strcspn(text, "/");
    if (length >= sizeof address) {
        return false;
    }
    memcpy(address, text, length);
    address[length] = '\0';
    *ipv6 = strchr(address, ':') != NULL;
    unsigned most_bits = *ipv6 ? 128 : 32;
    if (inet_pton(*ipv6 ? AF_INET6 : AF_INET, address, range->bytes) != 1) {
        return false;
    }
    range->bits = most_bits;
    if (text[length] == '/') {
        char *end;
        const char *digits = text + length + 1;
        unsigned long bits = strtoul(digits, &end, 10);
        if (*digits < '0' || *digits > '9' || *end || bits > most_bits) {
            return false;
        }
        range->bits = (unsigned)bits;
    }
    return true;
}

static void take_ipv4_out(struct address *address)
{
    static const struct range MAPPED = {{[10] = 0xff, [11] = 0xff}, 96};
    if (address->ipv6 && range_holds(&MAPPED, address->bytes)) {
        memmove(address->bytes, address->bytes + 12, 4);
        memset(address->bytes + 4, 0, sizeof address->bytes - 4);
        address->ipv6 = false;
    }
}

bool address_read(const char *text, struct address *address)
{
    memset(address, 0, sizeof *address);
    address->ipv6 = strchr(text, ':') != NULL;
    if (inet_pton(address->ipv6 ? AF_INET6 : AF_INET, text, address->bytes) != 1) {
        return false;
    }
    take_ipv4_out(address);
    return true;
}

bool address_write(const struct address *address, char text[ADDRESS_SIZE])
{
    int family = address->ipv6 ? AF_INET6 : AF_INET;
    return inet_ntop(family, address->bytes, text, ADDRESS_SIZE) != NULL;
}

bool address_of(const struct sockaddr *from, struct address *address)
{
    memset(address, 0, sizeof *address);
    if (from->sa_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, from, sizeof ipv4);
        memcpy(address->bytes, &ipv4.sin_addr, 4);
        return true;
    }
    if (from->sa_family != AF_INET6) {
        return false;
    }
    struct sockaddr_in6 ipv6;
    memcpy(&ipv6, from, sizeof ipv6);
    memcpy(address->bytes, ipv6.sin6_addr.s6_addr, 16);
    address->ipv6 = true;
    take_ipv4_out(address);
    return true;
}
