/* The doors: how calls come in. Each function serves until it is told to stop and returns an exit
 * code for the program. `signals` is a descriptor of core/event.h. */
#ifndef FORAGE_DOORS_DOORS_H
#define FORAGE_DOORS_DOORS_H

struct app;

/* MCP over standard input and output. Ends when standard input does. */
int door_stdio(struct app *app, int signals);
/* MCP at /mcp, REST at /api/v1, /health and /metrics, on FORAGE_HOST and FORAGE_PORT. */
int door_http(struct app *app, int signals);

#endif
