/* Stands before the function of SQLite's own file that writes. The format of pages is documented
 * and does not change: https://www.sqlite.org/fileformat2.html. */
#include "db/sqlite_gaps.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PAGE_BYTES        4096
#define FILE_HEADER_BYTES 100
#define LEAF              8 /* a bit of the type of a page */
#define LEAF_HEADER       8
#define INNER_HEADER      12
/* Pages of other kinds begin with the number of a page, which so far begins with 0 or 1. */
#define MOST_PAGES (INT64_C(1) << 25)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the first filling of these */
static const sqlite3_io_methods *theirs;
static sqlite3_io_methods ours;

static size_t number_at(const unsigned char *at)
{
    return (size_t)at[0] << 8 | at[1];
}

/* Empties the gap, if the page has one. */
static void empty_gap(unsigned char page[PAGE_BYTES], bool first)
{
    size_t header = first ? FILE_HEADER_BYTES : 0;
    unsigned char type = page[header];
    if (type != 2 && type != 5 && type != 10 && type != 13) {
        return;
    }
    size_t start = header + (type & LEAF ? LEAF_HEADER : INNER_HEADER);
    start += 2 * number_at(page + header + 3);
    size_t end = number_at(page + header + 5);
    if (start < end && end <= PAGE_BYTES) {
        memset(page + start, 0, end - start);
    }
}

static int write_page(sqlite3_file *file, const void *data, int amount, sqlite3_int64 offset)
{
    unsigned char page[PAGE_BYTES];
    sqlite3_int64 size = 0;
    if (amount != PAGE_BYTES || offset % PAGE_BYTES != 0 ||
        theirs->xFileSize(file, &size) != SQLITE_OK || size / PAGE_BYTES >= MOST_PAGES) {
        return theirs->xWrite(file, data, amount, offset);
    }
    memcpy(page, data, sizeof page);
    empty_gap(page, offset == 0);
    return theirs->xWrite(file, page, sizeof page, offset);
}

int sqlite_gaps_empty(sqlite3 *handle)
{
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK || !file || !file->pMethods) {
        return code;
    }
    pthread_mutex_lock(&lock);
    if (!theirs) {
        theirs = file->pMethods;
        ours = *theirs;
        ours.xWrite = write_page;
    }
    if (file->pMethods == theirs) {
        file->pMethods = &ours;
    }
    code = file->pMethods == &ours ? SQLITE_OK : SQLITE_ERROR;
    pthread_mutex_unlock(&lock);
    return code;
}
