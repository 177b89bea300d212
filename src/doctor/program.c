/* Checks of the program itself: its settings, the library that it fetches with, certificates. */
#include "config/config.h"
#include "doctor/check.h"
#include "net/curl_api.h"
#include "net/surroundings.h"

#include <string.h>

/* "NAME must be ..." or "unknown variable NAME ...": the name, and where it came from, say how to
 * be rid of it. */
static void mend_variable(struct look *look, const char *words)
{
    static const char UNKNOWN[] = "unknown variable ";
    const char *name =
        strncmp(words, UNKNOWN, sizeof UNKNOWN - 1) == 0 ? words + sizeof UNKNOWN - 1 : words;
    int length = (int)strcspn(name, " :=");
    if (strstr(words, "(environment)")) {
        mend(look, "unset %.*s", length, name);
    } else if (config_file()) {
        mend(look, "${EDITOR:-vi} %s", config_file());
    } else {
        mend(look, "forage config --env-example");
    }
}

static bool is_about_mode(const char *warning)
{
    return strstr(warning, "others can read it") != NULL;
}

void look_at_settings(struct look *look)
{
    const char *refused = look->options->refused;
    size_t odd = 0;
    const char *first = NULL;
    if (refused) {
        say(look, FINDING_BROKEN, "%.*s", (int)strcspn(refused, "\n"), refused);
        mend_variable(look, refused);
        return;
    }
    for (size_t i = 0; i < config_warning_count(); i++) {
        if (!is_about_mode(config_warning(i)) && odd++ == 0) {
            first = config_warning(i);
        }
    }
    if (!first) {
        say(look, FINDING_OK, "every variable is known, and every value fits");
        return;
    }
    if (odd > 1) {
        say(look, FINDING_WARNING, "%s (and %zu more: forage config)", first, odd - 1);
    } else {
        say(look, FINDING_WARNING, "%s", first);
    }
    mend_variable(look, first);
}

void look_at_file(struct look *look)
{
    const char *file = config_file();
    if (!file) {
        say(look, FINDING_OK, "none; settings come from the environment");
        return;
    }
    say(look, FINDING_OK, "%s", file);
    for (size_t i = 0; i < config_warning_count(); i++) {
        if (is_about_mode(config_warning(i))) {
            say(look, FINDING_WARNING, "%s holds keys, and others can read it", file);
            mend(look, "chmod 600 %s", file);
        }
    }
}

void look_at_start(struct look *look)
{
    if (look->options->failed) {
        say(look, FINDING_BROKEN, "%s", look->options->failed);
        mend(look, "forage config");
    } else {
        say(look, FINDING_OK, "version %s starts with these settings", FORAGE_VERSION);
    }
}

void look_at_curl(struct look *look)
{
    const char *problem = NULL;
    const struct curl_api *api = curl_api_open(&problem);
    if (!api) {
        say(look, FINDING_BROKEN, "%s", problem);
        mend(look, "apt-get install libcurl4");
        return;
    }
    const curl_version_info_data *info = api->version_info(CURLVERSION_NOW);
    say(look, FINDING_OK, "%s with %s", info->version,
        info->ssl_version ? info->ssl_version : "no TLS");
}

void look_at_certificates(struct look *look)
{
    const char *source = NULL;
    if (!curl_api_open(NULL)) {
        say(look, FINDING_UNUSED, "not without libcurl");
    } else if (trust_found(&source)) {
        say(look, FINDING_OK, "%s", source);
    } else if (source) {
        say(look, FINDING_BROKEN, "%s, which the environment names, cannot be read", source);
        mend(look, "unset CURL_CA_BUNDLE SSL_CERT_FILE");
    } else {
        say(look, FINDING_BROKEN, "there are none: no server can be trusted");
        mend(look, "apt-get install ca-certificates");
    }
}
