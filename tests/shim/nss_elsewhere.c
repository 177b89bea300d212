/* A source of names that is neither the hosts file nor a name server, as /etc/nsswitch.conf may
 * name some: it knows one name, "elsewhere", and gives it the address 11.22.33.44. Compiled as
 * libnss_elsewhere.so.2 and put where the program's libraries are looked for. */
#include <errno.h>
#include <netdb.h>
#include <nss.h>
#include <string.h>
#include <sys/socket.h>

struct place {
    char *aliases[1];
    char *addresses[2];
    unsigned char address[4];
    char name[16];
};

enum nss_status _nss_elsewhere_gethostbyname2_r(const char *name, int family,
                                                struct hostent *result, char *buffer, size_t size,
                                                int *error, int *h_error);

enum nss_status _nss_elsewhere_gethostbyname2_r(const char *name, int family,
                                                struct hostent *result, char *buffer, size_t size,
                                                int *error, int *h_error)
{
    static const unsigned char ADDRESS[] = {11, 22, 33, 44};
    if (strcmp(name, "elsewhere") != 0 || family != AF_INET) {
        *error = ENOENT;
        *h_error = HOST_NOT_FOUND;
        return NSS_STATUS_NOTFOUND;
    }
    if (size < sizeof(struct place) + sizeof(void *)) {
        *error = ERANGE;
        *h_error = NETDB_INTERNAL;
        return NSS_STATUS_TRYAGAIN;
    }
    struct place *place =
        (struct place *)(((size_t)buffer + sizeof(void *) - 1) & ~(sizeof(void *) - 1));
    memset(place, 0, sizeof *place);
    memcpy(place->address, ADDRESS, sizeof ADDRESS);
    memcpy(place->name, "elsewhere", sizeof "elsewhere");
    place->addresses[0] = (char *)place->address;
    *result = (struct hostent){.h_name = place->name,
                               .h_aliases = place->aliases,
                               .h_addrtype = AF_INET,
                               .h_length = 4,
                               .h_addr_list = place->addresses};
    return NSS_STATUS_SUCCESS;
}
