/* The pages of docs/clients, made from the table of clients. */
#ifndef FORAGE_SETUP_PAGE_H
#define FORAGE_SETUP_PAGE_H

#include "core/arena.h"
#include "core/buf.h"
#include "setup/clients.h"

/* Appends the page of one client. A status. */
int page_put_client(struct arena *arena, struct buf *out, const struct client *client);
/* Appends the page that lists them all. */
void page_put_index(struct buf *out);

#endif
