/* The address policy of this process, made once at start from FORAGE_ALLOW_PRIVATE_HOSTS and never
 * changed: whoever connects to an address that a stranger chose asks it. */
#ifndef FORAGE_GUARD_POLICY_H
#define FORAGE_GUARD_POLICY_H

#include "guard/address.h"

/* Makes it from the loaded configuration. OK, or ERR_INVALID with the reason in `problem`. */
int policy_load(char *problem, size_t size);
void policy_unload(void);

/* NULL, which opens nothing, when it was never loaded. */
const struct address_policy *policy_current(void);
/* The same question in the form of fetch_request.allow; the context is not used. */
int policy_allow(void *context, const char *host, const struct sockaddr *address);

#endif
