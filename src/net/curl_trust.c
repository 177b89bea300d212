/* OpenSSL can look a certificate up in a folder, by its hash, when it meets one: that costs a file
 * or two per connection. Where the system has such a folder beside its bundle, with at least as
 * many certificates in it, the bundle is left aside. Elsewhere it is the folder, because libcurl
 * keeps a bundle that it has read only when there is no folder.
 *
 * The system's libcurl knows where the system keeps both. The one that came with the program does
 * not, so the usual places are tried, and at last the bundle that came with it. */
#include "net/curl_trust.h"

#include "core/own_files.h"

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
    const char *bundle; /* NULL: not known */
    const char *folder; /* NULL: none */
};

static const struct place PLACES[] = {
    {"/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs"},    /* Debian, Arch, Alpine */
    {"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", NULL}, /* Fedora, RHEL */
    {"/etc/pki/tls/certs/ca-bundle.crt", NULL},                  /* RHEL, older */
    {"/etc/ssl/ca-bundle.pem", "/etc/ssl/certs"},                /* SUSE */
    {"/var/lib/ca-certificates/ca-bundle.pem", NULL},            /* SUSE, newer */
    {"/etc/ssl/cert.pem", NULL},                                 /* Alpine, macOS, BSD */
};

/* Written once, by look_at_system. */
static struct place system_place;
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

static struct place find_place(void)
{
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        if (access(PLACES[i].bundle, R_OK) == 0) {
            return PLACES[i];
        }
    }
    bool found = own_file("share/forage", "ca-certificates.crt", own_bundle, sizeof own_bundle);
    return (struct place){found ? own_bundle : NULL, NULL};
}

static void look_at_system(void)
{
    const struct curl_api *api = curl_api_open(NULL);
    const curl_version_info_data *info = api ? api->version_info(CURLVERSION_NOW) : NULL;
    if (!info || info->age < CURLVERSION_SEVENTH) {
        return;
    }
    system_place = info->cainfo ? (struct place){info->cainfo, info->capath} : find_place();
    if (system_place.folder && info->ssl_version) {
        bool openssl = strncmp(info->ssl_version, "OpenSSL/", 8) == 0;
        size_t in_folder = count_in_folder(system_place.folder);
        bool complete = in_folder > 0 && in_folder >= count_in_bundle(system_place.bundle);
        folder_is_enough = openssl && complete;
    }
}

static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* What the environment names, nothing where that is the system's own bundle. */
static struct place chosen_place(void)
{
    const char *bundle = from_environment("CURL_CA_BUNDLE");
    if (!bundle) {
        bundle = from_environment("SSL_CERT_FILE");
    }
    if (bundle) {
        bool same = system_place.bundle && strcmp(bundle, system_place.bundle) == 0;
        return (struct place){same ? NULL : bundle, NULL};
    }
    return (struct place){NULL, from_environment("SSL_CERT_DIR")};
}

/* The place that counts: what the environment names, else the system's, of which one half is
 * enough. */
static struct place trusted_place(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_at_system);
    struct place place = chosen_place();
    if (place.bundle || place.folder) {
        return place;
    }
    return folder_is_enough ? (struct place){NULL, system_place.folder}
                            : (struct place){system_place.bundle, NULL};
}

void curl_trust_set(struct curl_options *options)
{
    struct place place = trusted_place();
    if (place.bundle || place.folder) {
        curl_set_text(options, CURLOPT_CAINFO, place.bundle);
        curl_set_text(options, CURLOPT_CAPATH, place.folder);
    }
}

bool curl_trust_found(const char **source)
{
    struct place place = trusted_place();
    *source = place.bundle ? place.bundle : place.folder;
    return place.bundle   ? access(place.bundle, R_OK) == 0
           : place.folder ? count_in_folder(place.folder) > 0
                          : false;
}
