/* The pool is a stack: the multi that was used last is lent next, and those that nobody has needed
 * for a while are closed when another one comes back. */
#include "net/curl_pool.h"

#include "core/clock.h"
#include "core/status.h"

#include <pthread.h>
#include <stdlib.h>

#define MOST_IDLE_LANES     8
#define IDLE_TIME_MS        60000
#define CONNECTIONS_KEPT    8L  /* of one multi, between calls */
#define CONNECTIONS_TO_HOST 6L  /* of one multi */
#define CONNECTIONS_IN_ALL  64L /* of one multi */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct curl_lane *idle_lanes; /* the newest first */

struct curl_lane *curl_pool_discard(struct curl_lane *lane)
{
    if (lane) {
        if (lane->multi) {
            lane->api->multi_cleanup(lane->multi);
        }
        if (lane->share) {
            lane->api->share_cleanup(lane->share);
        }
        free(lane);
    }
    return NULL;
}

static void close_lanes(struct curl_lane *lane)
{
    while (lane) {
        struct curl_lane *next = lane->next;
        curl_pool_discard(lane);
        lane = next;
    }
}

static struct curl_lane *open_lane(const struct curl_api *api)
{
    struct curl_lane *lane = calloc(1, sizeof *lane);
    if (!lane) {
        return NULL;
    }
    lane->api = api;
    lane->multi = api->multi_init();
    lane->share = api->share_init();
    if (!lane->multi || !lane->share ||
        api->share_setopt(lane->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE) != CURLSHE_OK) {
        return curl_pool_discard(lane);
    }
    /* Only faster with it, so it may fail. */
    api->share_setopt(lane->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    api->multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS_KEPT);
    api->multi_setopt(lane->multi, CURLMOPT_MAX_HOST_CONNECTIONS, CONNECTIONS_TO_HOST);
    api->multi_setopt(lane->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, CONNECTIONS_IN_ALL);
    return lane;
}

struct curl_lane *curl_pool_lend(const struct curl_api *api)
{
    pthread_mutex_lock(&lock);
    struct curl_lane *lane = idle_lanes;
    if (lane) {
        idle_lanes = lane->next;
        lane->next = NULL;
    }
    pthread_mutex_unlock(&lock);
    return lane ? lane : open_lane(api);
}

/* Cookies can be forgotten only through an easy handle that shares them. */
static int forget_cookies(struct curl_lane *lane)
{
    struct curl_options options = {.api = lane->api, .easy = lane->api->easy_init()};
    if (!options.easy) {
        return ERR_NOMEM;
    }
    curl_set_pointer(&options, CURLOPT_SHARE, lane->share);
    curl_set_text(&options, CURLOPT_COOKIELIST, "ALL");
    lane->api->easy_cleanup(options.easy);
    return options.error == CURLE_OK ? OK : ERR_NOMEM;
}

/* Takes from the stack what has been idle for too long or is too much, and returns it. */
static struct curl_lane *take_surplus(int64_t now)
{
    struct curl_lane **link = &idle_lanes;
    for (int kept = 0; *link && kept < MOST_IDLE_LANES; kept++) {
        if (now - (*link)->idle_since_ms > IDLE_TIME_MS) {
            break; /* the ones below it are older still */
        }
        link = &(*link)->next;
    }
    struct curl_lane *surplus = *link;
    *link = NULL;
    return surplus;
}

struct curl_lane *curl_pool_give_back(struct curl_lane *lane)
{
    if (!lane) {
        return NULL;
    }
    if (forget_cookies(lane) != OK) {
        return curl_pool_discard(lane);
    }
    lane->idle_since_ms = clock_now_ms();
    pthread_mutex_lock(&lock);
    lane->next = idle_lanes;
    idle_lanes = lane;
    struct curl_lane *surplus = take_surplus(lane->idle_since_ms);
    pthread_mutex_unlock(&lock);
    close_lanes(surplus);
    return NULL;
}

void curl_pool_empty(void)
{
    pthread_mutex_lock(&lock);
    struct curl_lane *all = idle_lanes;
    idle_lanes = NULL;
    pthread_mutex_unlock(&lock);
    close_lanes(all);
}
