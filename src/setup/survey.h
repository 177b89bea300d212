/* What is seen of the clients on this machine: which are installed, and which have forage. */
#ifndef FORAGE_SETUP_SURVEY_H
#define FORAGE_SETUP_SURVEY_H

#include "setup/clients.h"

#define SETUP_MOST_CLIENTS 16

struct setup_state {
    const char *id;
    const char *title;
    char path[CLIENT_MOST_PATH]; /* the user's file of the client, whether or not it is there */
    bool found;                  /* the client seems to be installed */
    bool configured;             /* its file has an entry for forage */
    char command[1024];          /* what the entry starts, with its arguments, or its URL; or "" */
    char problem[200];           /* why its file cannot be understood, or "" */
};

/* Fills in one state for each client that forage knows, in the order of the table; how many there
 * are, or a negative status when memory ran out. */
int setup_survey(struct setup_state states[SETUP_MOST_CLIENTS]);

#endif
