/* Clients are told numbers that grow: of two reports in one moment the protocol drops the second,
 * so the clock is read finely. */
#include "research/progress.h"

#include "core/clock.h"

#include <stdio.h>

void progress_say(struct call *call, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    double seconds = (double)(clock_now_us() - call_started_ms(call) * 1000) / 1e6;
    call_progress(call, seconds, 0, "%s", message);
}
