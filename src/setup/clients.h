/* The clients that forage knows how to set up: where each keeps its configuration and how a server
 * is written down there. One table; `forage setup`, `forage doctor` and the pages in docs/clients
 * all come from it. */
#ifndef FORAGE_SETUP_CLIENTS_H
#define FORAGE_SETUP_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>

#define CLIENT_MOST_PATH 4096

enum client_format {
    CLIENT_JSON,  /* plain JSON: the client does not take comments */
    CLIENT_JSONC, /* JSON with comments and trailing commas */
    CLIENT_TOML,
};

/* How a value of an entry may refer to a variable of the client's own environment. */
enum client_reference {
    REFERENCE_DEFAULTED, /* ${NAME:-}: empty where it is not set */
    REFERENCE_DOLLAR,    /* ${NAME} */
    REFERENCE_ENV,       /* ${env:NAME} */
    REFERENCE_NAMED,     /* a list of the names that are handed on */
    REFERENCE_INHERITED, /* the server gets the client's whole environment; nothing is written */
    REFERENCE_NONE,      /* no way: the server has to know its keys by itself */
};

enum client_scope {
    SCOPE_USER,
    SCOPE_PROJECT,
};

/* Where a client may run; forage itself runs on Linux. */
enum client_platform {
    PLATFORM_LINUX,
    PLATFORM_MACOS,
    PLATFORM_WINDOWS,
    PLATFORM_COUNT,
};

struct client {
    const char *id;
    const char *title;
    enum client_format format;
    /* The user's file, as people write it. On Linux, "~/.config" stands for $XDG_CONFIG_HOME where
     * that is set. */
    const char *user[PLATFORM_COUNT];
    /* Where older versions keep it, which counts where only that is there; NULLs: nowhere else. */
    const char *older[PLATFORM_COUNT];
    /* The file of a project, below its folder; NULL: the client knows no projects. */
    const char *project;
    /* A variable that names another folder for the user's file, and the file's name there; or NULL.
     */
    const char *moved_by;
    const char *moved_file;
    /* The object of the document that holds the servers, by their names. */
    const char *servers;
    /* What "type" says for a program and for a URL; NULL: the member is not written. */
    const char *type_stdio;
    const char *type_http;
    /* The member that holds the URL; NULL: the file cannot name a server by its URL. */
    const char *url_member;
    enum client_reference reference;
    bool absolute;       /* it does not know the user's PATH */
    const char *program; /* on PATH where it is installed, or NULL */
    /* Folders below the home, any of which tells that it is installed; NULL ends them. */
    const char *signs[4];
    /* What makes it read the file, and how to see that forage is connected. */
    const char *then;
    /* Where to look when it is not. */
    const char *trouble;
    /* What the client's own page has to say besides; or NULL. */
    const char *more;
};

extern const struct client CLIENTS[];
extern const size_t CLIENT_COUNT;

const struct client *client_find(const char *id);
/* Writes the path of the client's file, absolute. OK; ERR_NOTFOUND when the client has no file of
 * this scope, ERR_IO when there is no home folder or no current one, ERR_LIMIT when it is too long.
 */
int client_path(const struct client *client, enum client_scope scope, char path[CLIENT_MOST_PATH]);
/* Whether the client seems to be installed here. */
bool client_is_found(const struct client *client);
/* What the client calls the variable `name`, in an entry; false when it cannot refer to one. */
bool client_reference(const struct client *client, const char *name, char *text, size_t size);

#endif
