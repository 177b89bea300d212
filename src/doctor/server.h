/* A server of forage that runs already, as whoever wants to reach it finds it. */
#ifndef FORAGE_DOCTOR_SERVER_H
#define FORAGE_DOCTOR_SERVER_H

#include "net/fetch.h"

/* "http://127.0.0.1:3000", for a browser or a client of this machine; a server that listens
 * everywhere is reached on loopback. NULL without memory. */
const char *server_address(struct call *call, const char *host, int port);
/* Whether a forage answers there. */
bool server_answers(struct call *call, const char *address);
/* The status of what a path of it answers; 0: nothing does. */
int server_status(struct call *call, const char *address, const char *path);

#endif
