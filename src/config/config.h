/* The configuration in force: every variable of data/variables.txt, and the address of every
 * service of data/upstreams.txt as NAME_BASE_URL, from the command line, the environment, one
 * optional KEY=value file, or its default, in this order.
 *
 * It is loaded once, by one thread, while the program starts; from then on nothing changes, and any
 * thread may ask. A thread that works on a call with settings of its own hears those. Asking is a
 * search among sorted names, cheap enough for every request. To ask for a name that is not declared
 * (or only as a second name), or for another kind than declared, is a mistake in the program and
 * ends it. */
#ifndef FORAGE_CONFIG_CONFIG_H
#define FORAGE_CONFIG_CONFIG_H

#include "core/buf.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Of the permissions of a file with secrets. */
#define CONFIG_OTHERS_MAY_READ 0044

/* Loads the configuration. `environment` is what environ is; `overrides` are settings of the
 * command line in the same form, or NULL. OK; ERR_INVALID, ERR_IO or ERR_NOMEM with one line for
 * each problem in `problem`, and then nothing is loaded. Secrets are registered for redaction. A
 * second load replaces the first, for tests. */
int config_load(char *const *environment, char *const *overrides, struct buf *problem);
void config_unload(void);

/* Things that the operator should know: names that were probably mistyped, a readable file with
 * secrets. */
size_t config_warning_count(void);
const char *config_warning(size_t index);
/* The file that was read, or NULL. */
const char *config_file(void);
/* The first line of it that systemd would read otherwise (EnvironmentFile=), and how; or NULL. */
const char *config_file_otherwise(void);
/* The file that is read when it is there; NULL: there is no home folder. */
const char *config_file_place(void);

/* Text, choices and paths; NULL when it is not set and has no default. */
const char *config_text(const char *name);
int64_t config_int(const char *name);
bool config_bool(const char *name);
int64_t config_duration_ms(const char *name);
int64_t config_bytes(const char *name);
/* The items of a list, and how many there are (`count` may be NULL); never NULL, a NULL ends
 * them. */
const char *const *config_list(const char *name, size_t *count);

/* "default", "environment", "command line", or the file and line: "/etc/forage.env:7". */
const char *config_origin(const char *name);
/* The name under which it was set, which may be its second one; NULL: it was not set. */
const char *config_name_used(const char *name);
/* The same for a message about it: its first name where it was not set. */
const char *config_name_told(const char *name);
/* Whether the same source set it under its second name too, which does not count. */
bool config_passed_over(const char *name);
/* Whether it was set to something, whatever its default. */
bool config_is_set(const char *name);

#endif
