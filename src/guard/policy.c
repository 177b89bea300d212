/* The one policy of the process. */
#include "guard/policy.h"

#include "config/config.h"
#include "core/status.h"

#include <stdio.h>

static struct address_policy *current;

int policy_load(char *problem, size_t size)
{
    char reason[256];
    struct address_policy *policy =
        address_policy_new(config_text("FORAGE_ALLOW_PRIVATE_HOSTS"), reason, sizeof reason);
    if (!policy) {
        snprintf(problem, size, "FORAGE_ALLOW_PRIVATE_HOSTS: %s", reason);
        return ERR_INVALID;
    }
    policy_unload();
    current = policy;
    return OK;
}

void policy_unload(void)
{
    current = address_policy_free(current);
}

const struct address_policy *policy_current(void)
{
    return current;
}

int policy_allow(void *context, const char *host, const struct sockaddr *address)
{
    (void)context;
    return address_allow(current, host, address);
}
