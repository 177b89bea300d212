/* What is the same for every store: which one it is, and the rule of the windows. */
#include "ops/store.h"

#include "config/config.h"
#include "config/places.h"
#include "core/limits.h"

#include <stdio.h>
#include <stdlib.h>

int store_take_windows(struct store *store, store_read_window read, store_write_window write,
                       struct limit_claim *claims, size_t count, int64_t now_ms)
{
    struct limit_window windows[LIMIT_WINDOW_CLAIMS];
    bool used_up = false;
    for (size_t i = 0; i < count; i++) {
        int status = read(store, claims[i].key, &windows[i]);
        if (status != OK) {
            return status;
        }
        limit_look(&claims[i], &windows[i], now_ms);
        used_up |= claims[i].retry_after_ms > 0;
    }
    for (size_t i = 0; !used_up && i < count; i++) {
        windows[i].used++;
        claims[i].left--;
        int status = write(store, claims[i].key, &windows[i]);
        if (status != OK) {
            return status;
        }
    }
    return used_up ? ERR_LIMIT : OK;
}

struct store *store_open(struct call *call, char *problem, size_t size)
{
    const char *url = config_text("FORAGE_DATABASE_URL");
    if (url && *url) {
        return store_postgres_open(url, config_bool("FORAGE_STORE_SYNC"), call, problem, size);
    }
    char *folder = places_data(problem, size);
    char *path = NULL;
    struct store *store = NULL;
    if (folder && asprintf(&path, "%s/" PLACES_RECORDS, folder) >= 0) {
        store = store_sqlite_open(path, config_bool("FORAGE_STORE_SYNC"), call, problem, size);
        free(path);
    }
    free(folder);
    return store;
}
