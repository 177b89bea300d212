/* What SQLite leaves behind in a page. With secure_delete it overwrites what is deleted, but when
 * it moves entries to another page, copies of them stay in the gap between the page's list of
 * entries and the first of these; and they stay when the entries are deleted later. */
#ifndef FORAGE_DB_SQLITE_GAPS_H
#define FORAGE_DB_SQLITE_GAPS_H

#include "core/status.h"

#include <sqlite3.h>

/* From now on the gaps of every page that the connection writes into its file are empty. Pages in
 * the write-ahead log keep theirs until the log is emptied. SQLITE_OK or SQLite's code. */
MUST_CHECK int sqlite_gaps_empty(sqlite3 *handle);

#endif
