/* What would become of a client's file: pure, from text to text. Nothing here touches a file. */
#ifndef FORAGE_SETUP_PLAN_H
#define FORAGE_SETUP_PLAN_H

#include "core/arena.h"
#include "core/buf.h"
#include "setup/clients.h"
#include "setup/document.h"
#include "setup/entry.h"

enum plan_change {
    PLAN_SAME,    /* it is as it should be */
    PLAN_ADDED,   /* there was no entry of that name */
    PLAN_CHANGED, /* there was another one; members that forage knows nothing of are kept */
    PLAN_REMOVED,
};

/* A file as it is. */
struct plan_file {
    const struct client *client;
    const char *name; /* of the entry */
    const char *text;
    size_t length;
};

/* Appends to `after` the text with the entry in it. OK; ERR_INVALID with the place of what is wrong
 * in the file; ERR_UNSUPPORTED, with a place too, when the entry is written in a way that is not
 * edited here; ERR_FAILED when the result is not what it should be, which is a mistake in the
 * program. */
int plan_add(struct arena *arena, const struct plan_file *file, const struct setup_entry *entry,
             struct buf *after, enum plan_change *change, struct document_problem *problem);
/* Appends to `after` the text without the entry; `prune`: without the object that held it too, if
 * that is empty now. As plan_add; ERR_NOTFOUND when there is no entry. */
int plan_remove(struct arena *arena, const struct plan_file *file, bool prune, struct buf *after,
                struct document_problem *problem);
/* Whether there is an entry: OK or ERR_NOTFOUND, otherwise as plan_add. `starts` receives what it
 * starts, or its URL, cut to fit; an entry without either leaves it empty. */
int plan_look(struct arena *arena, const struct plan_file *file, char *starts, size_t size,
              struct document_problem *problem);
/* Whether the file has the object that holds servers. */
bool plan_has_servers(const struct plan_file *file);
/* What a person would put into the file: the whole document, if there were nothing else in it. */
void plan_put_snippet(struct buf *out, const struct client *client, const char *name,
                      const struct setup_entry *entry);

#endif
