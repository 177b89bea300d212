/* No dumps of the program's memory. */
#include "core/dumps.h"

#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* Both are needed: the limit is what children inherit, and does not hold where the system pipes
 * cores into a program; the flag holds everywhere, and only for this process. */
int dumps_forbid(void)
{
    const struct rlimit none = {0, 0};
    bool limited = setrlimit(RLIMIT_CORE, &none) == 0;
    return prctl(PR_SET_DUMPABLE, 0) == 0 && limited ? OK : ERR_IO;
}
