/* lexbor's table of entities ("&eacute;") has a pointer to a text in each row. The loader would
 * write all of them at every start, on 115 pages, and most starts read no HTML; so
 * scripts/late_table.py takes them out of the object while building, and they are written here. The
 * table is read-only before and after, as everything that the loader relocates is. */
#include "html/entities.h"

#include "late_table.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_filled;

static void fill(char *table)
{
    for (size_t i = 0; LATE_ROWS[i].text; i++) {
        const unsigned char *text = LATE_TEXTS + LATE_ROWS[i].text;
        memcpy(table + LATE_ROWS[i].place, &text, sizeof text);
    }
}

int entities_fill(void)
{
    char *table = LATE_TABLE;
    pthread_mutex_lock(&lock);
    if (table && !is_filled && mprotect(table, LATE_BYTES, PROT_READ | PROT_WRITE) == 0) {
        fill(table);
        is_filled = true;
        (void)mprotect(table, LATE_BYTES, PROT_READ);
    }
    int status = table && !is_filled ? ERR_NOMEM : OK;
    pthread_mutex_unlock(&lock);
    return status;
}
