/* OpenSSL can look a certificate up in a folder, by its hash, when it meets one: that costs a file
 * or two per connection. Where the system has such a folder beside its bundle, with at least as
 * many certificates in it, the bundle is left aside. Elsewhere it is the folder, because libcurl
 * keeps a bundle that it has read only when there is no folder. */
#include "base/curl_trust.h"

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Written once, by look_at_system. */
static const char *system_bundle; /* NULL: not known */
static const char *system_folder;
static enum { AS_IT_IS, ONLY_FOLDER, ONLY_BUNDLE } system_choice;

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

static void look_at_system(void)
{
    const struct curl_api *api = curl_api_open(NULL);
    const curl_version_info_data *info = api ? api->version_info(CURLVERSION_NOW) : NULL;
    if (!info || info->age < CURLVERSION_SEVENTH || !info->cainfo) {
        return;
    }
    system_bundle = info->cainfo;
    system_folder = info->capath;
    if (info->capath && info->ssl_version) {
        bool openssl = strncmp(info->ssl_version, "OpenSSL/", 8) == 0;
        size_t in_folder = count_in_folder(info->capath);
        bool complete = in_folder > 0 && in_folder >= count_in_bundle(info->cainfo);
        system_choice = openssl && complete ? ONLY_FOLDER : ONLY_BUNDLE;
    }
}

/* The bundle that the environment names, NULL where that is the system's own. */
static const char *chosen_bundle(void)
{
    static const char *const VARIABLES[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE"};
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
        const char *bundle = getenv(VARIABLES[i]);
        if (bundle && *bundle) {
            return system_bundle && strcmp(bundle, system_bundle) == 0 ? NULL : bundle;
        }
    }
    return NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

void curl_trust_set(struct curl_options *options)
{
    pthread_once(&once, look_at_system);
    const char *bundle = chosen_bundle();
    if (bundle) {
        curl_set_text(options, CURLOPT_CAINFO, bundle);
        curl_set_text(options, CURLOPT_CAPATH, NULL);
    } else if (system_choice == ONLY_FOLDER) {
        curl_set_text(options, CURLOPT_CAINFO, NULL);
    } else if (system_choice == ONLY_BUNDLE) {
        curl_set_text(options, CURLOPT_CAPATH, NULL);
    }
}

bool curl_trust_found(const char **source)
{
    pthread_once(&once, look_at_system);
    *source = chosen_bundle();
    if (*source) {
        return access(*source, R_OK) == 0;
    }
    if (system_choice != ONLY_FOLDER && system_bundle && access(system_bundle, R_OK) == 0) {
        *source = system_bundle;
    } else if (system_folder && count_in_folder(system_folder) > 0) {
        *source = system_folder;
    }
    return *source != NULL;
}
