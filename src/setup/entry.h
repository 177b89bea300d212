/* What is written down about forage in a client's configuration: a few members, in the words that
 * the client knows, as JSON or as TOML. */
#ifndef FORAGE_SETUP_ENTRY_H
#define FORAGE_SETUP_ENTRY_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/limits.h"
#include "setup/clients.h"

/* ---- which command starts this very program ---- */

#define LAUNCH_MOST_ARGUMENTS 8

struct launch {
    const char *command;
    const char *arguments[LAUNCH_MOST_ARGUMENTS];
    size_t count;
};

/* Chooses: "forage" where PATH finds this program under that name, otherwise its path; and where
 * it runs from a cache of npx or uvx, which may be gone tomorrow, what brings it again. `absolute`:
 * always a whole path. `given`, unless NULL, is taken as the command; `context` is what the server
 * is told of its client. OK, or ERR_IO when the program's own path is not known. */
int launch_choose(struct arena *arena, const char *given, bool absolute, const char *context,
                  struct launch *launch);
/* The package runner of that name ("npx", "uvx"), which brings the program and starts it. OK, or
 * ERR_NOTFOUND when no package is made for it. */
int launch_by_runner(const char *runner, const char *context, struct launch *launch);
/* Adds what makes forage an MCP server for a client. */
void launch_serve(struct launch *launch, const char *context);

/* ---- which variables a client hands on ---- */

struct setup_keys {
    const char *names[LIMIT_SETUP_KEYS]; /* of data/variables.txt */
    size_t count;
};

/* Those that are set in the environment and that forage can use when a client has started it: keys,
 * tokens and addresses of services. */
void keys_from_environment(struct setup_keys *keys);
/* Those that a list names, separated by commas. ERR_INVALID with words when forage does not know
 * one, or there are too many. */
int keys_parse(struct setup_keys *keys, const char *list, char *problem, size_t size);

/* ---- the entry ---- */

#define ENTRY_MOST_MEMBERS 5

/* What the user wants. */
struct entry_request {
    struct launch launch;
    const char *url;         /* a server that runs elsewhere, in place of a program; or NULL */
    const char *token;       /* the variable that holds its token, or NULL */
    const char *const *keys; /* variables that the server needs */
    size_t key_count;
    const char *tools;     /* what FORAGE_TOOLS is, unless the entry has its own; or NULL */
    const char *providers; /* what FORAGE_SEARCH_PROVIDERS is; or NULL */
    bool with_values;      /* write the values of variables, not references to them */
};

enum entry_kind {
    ENTRY_TEXT,
    ENTRY_LIST,
    ENTRY_TABLE,
};

struct entry_member {
    const char *name;
    enum entry_kind kind;
    const char **names;  /* of a table */
    const char **values; /* one for a text */
    size_t count;
    const char *gives_way; /* the name of a pair of a table that one in the file wins over */
};

struct setup_entry {
    struct entry_member members[ENTRY_MOST_MEMBERS];
    size_t count;
    /* Members that would contradict these, and have to go; NULL ends them. */
    const char *const *rivals;
};

/* Makes the entry, in the arena. OK, ERR_NOMEM, or ERR_UNSUPPORTED with words when the client
 * cannot do that. */
int entry_make(struct arena *arena, const struct client *client,
               const struct entry_request *request, struct setup_entry *entry, char *problem,
               size_t size);
const struct entry_member *entry_member(const struct setup_entry *entry, const char *name);

/* The value of one member, in the form that jsonc.h wants. */
void entry_put_json(struct buf *out, const struct entry_member *member);
/* All members as one object. */
void entry_put_json_object(struct buf *out, const struct setup_entry *entry);
void entry_put_toml(struct buf *out, const struct entry_member *member);
/* All members as lines of a table. */
void entry_put_toml_lines(struct buf *out, const struct setup_entry *entry);

#endif
