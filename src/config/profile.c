/* Which profile is meant: the setting, or else a context of the same name. */
#include "config/profile.h"

#include "config/config.h"

#include <string.h>
#include <strings.h>

/* A context that is named as one of these asks for it, so that whoever writes `--context` for every
 * client need not know that this one wants more. */
static const char *const PROFILES[] = {"chatgpt"};

const char *profile_name(void)
{
    const char *wanted =
        config_text(config_is_set("FORAGE_PROFILE") ? "FORAGE_PROFILE" : "FORAGE_CONTEXT");
    for (size_t i = 0; wanted && i < sizeof PROFILES / sizeof *PROFILES; i++) {
        if (strcasecmp(wanted, PROFILES[i]) == 0) {
            return PROFILES[i];
        }
    }
    return NULL;
}
