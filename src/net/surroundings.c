/* What the environment and the system say about connections: which proxy is between, and which
 * certificates are trusted. */
#include "net/surroundings.h"

#include "core/files.h"
#include "core/spare.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* ---- proxies ---- */

/* The variables have the meaning that curl gives them: http_proxy is read in small letters only (a
 * web server would put a client's "Proxy:" header into HTTP_PROXY), the others in both; no_proxy
 * lists the exceptions. */
static const struct {
    const char *scheme; /* NULL: any */
    const char *variable;
} PROXIES[] = {
    {"http", "http_proxy"}, {"https", "https_proxy"}, {"https", "HTTPS_PROXY"},
    {NULL, "all_proxy"},    {NULL, "ALL_PROXY"},
};

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

const char *proxy_for(const struct url *url)
{
    const char *exempt = from_environment("no_proxy");
    if (!exempt) {
        exempt = from_environment("NO_PROXY");
    }
    if (exempt && is_exempt(exempt, url->host)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof PROXIES / sizeof *PROXIES; i++) {
        bool fits = !PROXIES[i].scheme || strcmp(PROXIES[i].scheme, url->scheme) == 0;
        const char *proxy = fits ? from_environment(PROXIES[i].variable) : NULL;
        if (proxy) {
            return proxy;
        }
    }
    return NULL;
}

/* ---- certificates ---- */

/* OpenSSL can look a certificate up in a folder, by its hash, when it meets one: that costs a file
 * or two per connection. Where the system has such a folder beside its bundle, with at least as
 * many certificates in it, the bundle is left aside. Elsewhere it is the folder, because libcurl
 * remembers a bundle that it has read only when there is no folder.
 *
 * The system's libcurl knows where the system has both. The one that came with the program does
 * not, so the usual places are tried, and at last the bundle that came with it. */
struct trust {
    const char *bundle; /* NULL: not known */
    const char *folder; /* NULL: none */
};

static const struct trust TRUSTS[] = {
    {"/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs"},    /* Debian, Arch, Alpine */
    {"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", NULL}, /* Fedora, RHEL */
    {"/etc/pki/tls/certs/ca-bundle.crt", NULL},                  /* RHEL, older */
    {"/etc/ssl/ca-bundle.pem", "/etc/ssl/certs"},                /* SUSE */
    {"/var/lib/ca-certificates/ca-bundle.pem", NULL},            /* SUSE, newer */
    {"/etc/ssl/cert.pem", NULL},                                 /* Alpine, macOS, BSD */
};

/* Written once, by look_at_system. */
static struct trust system_trust;
static bool folder_is_enough;
static char own_bundle[OWN_PATH_SIZE];

/* "3513523f.0": how OpenSSL's tools name a certificate. */
static bool is_hashed_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == 8 && name[8] == '.' && name[9] != '\0' &&
           strspn(name + 9, "0123456789") == strlen(name + 9);
}

static size_t count_in_folder(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    if (folder) {
        struct dirent *entry;
        while ((entry = readdir(folder)) != NULL) {
            count += is_hashed_name(entry->d_name);
        }
        closedir(folder);
    }
    return count;
}

static size_t count_in_bundle(const char *path)
{
    static const char MARK[] = "-----BEGIN ";
    char line[256];
    size_t count = 0;
    FILE *bundle = fopen(path, "re");
    if (bundle) {
        while (fgets(line, sizeof line, bundle)) {
            count += strncmp(line, MARK, sizeof MARK - 1) == 0;
        }
        fclose(bundle);
    }
    return count;
}

static struct trust find_trust(void)
{
    for (size_t i = 0; i < sizeof TRUSTS / sizeof *TRUSTS; i++) {
        if (access(TRUSTS[i].bundle, R_OK) == 0) {
            return TRUSTS[i];
        }
    }
    bool found = own_file("share/forage", "ca-certificates.crt", own_bundle, sizeof own_bundle);
    return (struct trust){found ? own_bundle : NULL, NULL};
}

static void look_at_system(void)
{
    const struct curl_api *api = curl_api_open(NULL);
    const curl_version_info_data *info = api ? api->version_info(CURLVERSION_NOW) : NULL;
    if (!info || info->age < CURLVERSION_SEVENTH) {
        return;
    }
    system_trust = info->cainfo ? (struct trust){info->cainfo, info->capath} : find_trust();
    if (system_trust.folder && info->ssl_version) {
        bool openssl = strncmp(info->ssl_version, "OpenSSL/", 8) == 0;
        spare_lend(); /* what is seen now is remembered */
        size_t in_folder = count_in_folder(system_trust.folder);
        bool complete = in_folder > 0 && in_folder >= count_in_bundle(system_trust.bundle);
        spare_return();
        folder_is_enough = openssl && complete;
    }
}

/* What the environment names, nothing where that is the system's own bundle. */
static struct trust chosen_trust(void)
{
    const char *bundle = from_environment("CURL_CA_BUNDLE");
    if (!bundle) {
        bundle = from_environment("SSL_CERT_FILE");
    }
    if (bundle) {
        bool same = system_trust.bundle && strcmp(bundle, system_trust.bundle) == 0;
        return (struct trust){same ? NULL : bundle, NULL};
    }
    return (struct trust){NULL, from_environment("SSL_CERT_DIR")};
}

/* The trust that counts: what the environment names, else the system's, of which one half is
 * enough. */
static struct trust current_trust(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_at_system);
    struct trust trust = chosen_trust();
    if (trust.bundle || trust.folder) {
        return trust;
    }
    return folder_is_enough ? (struct trust){NULL, system_trust.folder}
                            : (struct trust){system_trust.bundle, NULL};
}

void trust_set(struct curl_options *options)
{
    struct trust trust = current_trust();
    if (trust.bundle || trust.folder) {
        curl_set_pointer(options, CURLOPT_CAINFO, trust.bundle);
        curl_set_pointer(options, CURLOPT_CAPATH, trust.folder);
    }
}

bool trust_found(const char **source)
{
    struct trust trust = current_trust();
    *source = trust.bundle ? trust.bundle : trust.folder;
    return trust.bundle   ? access(trust.bundle, R_OK) == 0
           : trust.folder ? count_in_folder(trust.folder) > 0
                          : false;
}
