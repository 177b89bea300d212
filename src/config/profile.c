/* Which profile is meant: the setting, or else a context of the same name. */
#include "config/profile.h"

#include "config/config.h"

#include <strings.h>

/* A context that is named as a profile asks for it, so that whoever writes `--context` for every
 * client need not know that this one wants more. */
static bool is_wanted(const char *profile)
{
    const char *wanted =
        config_text(config_is_set("FORAGE_PROFILE") ? "FORAGE_PROFILE" : "FORAGE_CONTEXT");
    return wanted && strcasecmp(wanted, profile) == 0;
}

const char *profile_tools(void)
{
    static const char CHATGPT[] = "chatgpt";
    return is_wanted(CHATGPT) ? CHATGPT : NULL;
}

bool profile_promises_json(void)
{
    return profile_tools() || is_wanted("json");
}
