/* Which certificates are trusted. Debian's libcurl reads the whole bundle for every TLS connection:
 * 40 ms of CPU each, in which nothing can be cancelled. */
#ifndef FORAGE_NET_CURL_TRUST_H
#define FORAGE_NET_CURL_TRUST_H

#include "net/curl_api.h"

#include <stdbool.h>

/* The file that CURL_CA_BUNDLE or SSL_CERT_FILE names, the folder that SSL_CERT_DIR names,
 * otherwise the system's, or the file that came with the program where the system has none. */
void curl_trust_set(struct curl_options *options);
/* Whether there are any; `source` receives the file or folder that is used or, when what the
 * environment names is not there, that name. libcurl must be open. */
bool curl_trust_found(const char **source);

#endif
