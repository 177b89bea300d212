/* What the environment and the system say about connections: which proxy is between, and which
 * certificates are trusted. forage decides both, not libcurl. It must know whether the address that
 * is connected to is the target's or the proxy's; and Debian's libcurl reads the whole bundle of
 * certificates for every TLS connection: 40 ms of processor time, in which nothing can be
 * cancelled. */
#ifndef FORAGE_NET_SURROUNDINGS_H
#define FORAGE_NET_SURROUNDINGS_H

#include "net/curl_api.h"
#include "text/url.h"

#include <stdbool.h>

/* The proxy for a URL as the usual variables name it, or NULL for a direct connection. */
const char *proxy_for(const struct url *url);

/* Sets the certificates: the file that CURL_CA_BUNDLE or SSL_CERT_FILE names, the folder that
 * SSL_CERT_DIR names, otherwise the system's, or the file that came with the program where the
 * system has none. */
void trust_set(struct curl_options *options);
/* Whether there are any; `source` receives the file or folder that is used or, when what the
 * environment names is not there, that name. libcurl must be open. */
bool trust_found(const char **source);

#endif
