/* Which certificates are trusted. Debian's libcurl reads the whole bundle for every TLS connection:
 * 40 ms of CPU each, in which nothing can be cancelled. */
#ifndef FORAGE_BASE_CURL_TRUST_H
#define FORAGE_BASE_CURL_TRUST_H

#include "base/curl_api.h"

/* The file that CURL_CA_BUNDLE or SSL_CERT_FILE names, otherwise the system's. */
void curl_trust_set(struct curl_options *options);

#endif
