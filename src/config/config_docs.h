/* What is written about the configuration, all of it from the one table: the documentation, the
 * example file, and what is in force. */
#ifndef FORAGE_CONFIG_CONFIG_DOCS_H
#define FORAGE_CONFIG_CONFIG_DOCS_H

#include "core/buf.h"

#include <stdbool.h>

/* docs/configuration.md: a table for each group. */
void config_write_markdown(struct buf *out);
/* .env.example: a configuration file with everything in it, commented out. */
void config_write_env_example(struct buf *out);
/* man/forage.env.5: the same as a manual page. */
void config_write_manual(struct buf *out);
/* What `forage config` prints: every variable, its value and where that came from. Secrets are only
 * said to be set. Needs a loaded configuration. */
void config_write_effective(struct buf *out, bool json);

#endif
