/* Asking the server of these settings how it is, as a client would. */
#ifndef FORAGE_DOCTOR_HEALTH_H
#define FORAGE_DOCTOR_HEALTH_H

#include "call/call.h"
#include "text/json.h"

/* What /health says at FORAGE_HOST and FORAGE_PORT, in the call's arena; NULL where no forage
 * answers there, with the reason. */
yyjson_val *health_ask(struct call *call, const char **problem);

#endif
