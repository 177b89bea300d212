/* Addresses of the internet in one form, and ranges of them: "10.0.0.0/8", "fd00::/8", "::1". */
#ifndef FORAGE_GUARD_RANGES_H
#define FORAGE_GUARD_RANGES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDRESS_SIZE INET6_ADDRSTRLEN /* of its text */

/* An IPv4 address uses the first 4 bytes. */
struct address {
    bool ipv6;
    uint8_t bytes[16];
};

/* The first bits of an address, of either family. */
struct range {
    uint8_t bytes[16];
    unsigned bits;
};

/* False when it is none. An IPv4 address in an IPv6 one counts as IPv4. */
bool address_read(const char *text, struct address *address);
/* In its usual spelling; false when it cannot be written. */
bool address_write(const struct address *address, char text[ADDRESS_SIZE]);
bool address_of(const struct sockaddr *from, struct address *address);

/* Reads a range, or an address as a range of one. False when it is neither, or its bits do not
 * fit. */
bool range_read(const char *text, struct range *range, bool *ipv6);
/* Whether these bytes, of the range's own family, lie in it. */
bool range_holds(const struct range *range, const uint8_t *bytes);

#endif
