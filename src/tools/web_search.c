/* web_search: results of the web with the text of their pages. */
#include "config/config.h"
#include "core/id.h"
#include "core/log.h"
#include "core/sha256.h"
#include "embedded.h"
#include "text/text.h"
#include "tools/tools.h"
#include "websearch/websearch.h"

#include <pthread.h>
#include <string.h>

/* ---- the log ---- */

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static unsigned char key[32];

static void make_key(void)
{
    id_random(key, sizeof key);
}

/* Tells two searches for the same from two for different things, within this process, and no more
 * than that. */
static void log_search(struct call *call, const struct search_request *request,
                       const struct search_counts *counts)
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 hash;
    pthread_once(&key_once, make_key);
    sha256_init(&hash);
    sha256_add(&hash, key, sizeof key);
    for (size_t i = 0; i < request->text_count; i++) {
        sha256_add(&hash, request->texts[i], strlen(request->texts[i]) + 1);
    }
    sha256_end(&hash, digest);
    log_info(call_request_id(call),
             "search=%02x%02x%02x%02x provider=%s results=%zu pages_failed=%zu", digest[0],
             digest[1], digest[2], digest[3], counts->provider, counts->results,
             counts->pages_failed);
    if (config_bool("FORAGE_DEBUG")) {
        char quoted[400];
        struct text_out out;
        text_start(&out, quoted, sizeof quoted);
        text_put_quoted(&out, request->texts[0], strlen(request->texts[0]), 100);
        log_debug(call_request_id(call), "query=%s", quoted);
    }
}

/* ---- the tool ---- */

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct search_request *request = arena_zalloc(call_arena(call), sizeof *request);
    struct search_counts counts;
    int status = request ? search_read_arguments(call, arguments, request) : ERR_NOMEM;
    if (status == OK) {
        status = search_run(call, request, reply->doc, &reply->structured, &counts);
    }
    if (status == OK) {
        log_search(call, request, &counts);
    }
    return status;
}

static void ready(struct readiness *readiness)
{
    readiness->ready = search_ready(readiness->lacks, sizeof readiness->lacks);
}

const struct tool TOOL_WEB_SEARCH = {
    .definition = definition_web_search,
    .run = run,
    .ready = ready,
};
