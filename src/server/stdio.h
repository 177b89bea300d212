/* MCP over standard input and output. */
#ifndef FORAGE_SERVER_STDIO_H
#define FORAGE_SERVER_STDIO_H

struct app;

/* Serves until standard input ends, or until it is told to stop: `signals` is a descriptor of
 * core/event.h. An exit code for the program. */
int door_stdio(struct app *app, int signals);

#endif
