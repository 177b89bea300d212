/* Who is calling. Operators give each caller a name and a bearer token; everything that belongs to
 * a caller (limits, history, memory) hangs on the name. Tokens are stored only as digests and
 * compared in constant time. Without tokens there is one caller, "local", and the server stays on
 * loopback; no token can have that name. */
#ifndef FORAGE_GUARD_CALLERS_H
#define FORAGE_GUARD_CALLERS_H

#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>

/* What makes a good token, on every machine. */
#define MAKE_TOKEN "`head -c 24 /dev/urandom | base64`"

struct callers;

/* The caller of stdio, of the command line and of a server without tokens. */
const struct caller *caller_local(void);

/* `pairs` are name:token texts, ended by a NULL, `path` names a file with one name:token per line;
 * either may be NULL. A name with "+operator" behind it is an operator's. NULL with the reason in
 * `problem` when one of them is wrong, or easy to guess; an empty set when both are absent. */
struct callers *callers_new(const char *const *pairs, const char *path, char *problem, size_t size);
struct callers *callers_free(struct callers *callers);
size_t callers_count(const struct callers *callers);
/* The caller of an Authorization header's value ("Bearer ..."); NULL when it names none. Without
 * tokens the local caller, whatever the header says. */
const struct caller *callers_find(const struct callers *callers, const char *authorization,
                                  size_t length);

/* The caller at that place; NULL at the end. */
const struct caller *callers_at(const struct callers *callers, size_t index);
/* The digest of a caller's token, which nobody else knows; NULL: it has none. */
const unsigned char *callers_digest(const struct callers *callers, const struct caller *caller);
/* The caller of that name; NULL: no token has it. */
const struct caller *callers_named(const struct callers *callers, const char *name);

#endif
