/* Idle lanes are a stack: the one that was used last is lent next, and those that nobody has needed
 * for a while are closed when another one comes back. */
#include "net/lanes.h"

#include "call/parts.h"
#include "core/clock.h"

#include <pthread.h>
#include <stdlib.h>

#define MOST_IDLE_LANES     8
#define IDLE_TIME_MS        60000
#define CONNECTIONS_KEPT    8L  /* of one multi, between calls */
#define CONNECTIONS_TO_HOST 6L  /* of one multi */
#define CONNECTIONS_IN_ALL  64L /* of one multi */

struct net {
    pthread_mutex_t lock;
    struct lane *idle; /* the newest first */
    bool names_to_proxy;
};

static void close_lanes(struct lane *lane)
{
    while (lane) {
        struct lane *next = lane->next;
        if (lane->multi) {
            lane->api->multi_cleanup(lane->multi);
        }
        if (lane->share) {
            lane->api->share_cleanup(lane->share);
        }
        free(lane);
        lane = next;
    }
}

struct net *net_new(bool names_to_proxy)
{
    struct net *net = calloc(1, sizeof *net);
    if (net) {
        net->names_to_proxy = names_to_proxy;
        pthread_mutex_init(&net->lock, NULL);
    }
    return net;
}

struct net *net_free(struct net *net)
{
    if (net) {
        close_lanes(net->idle);
        pthread_mutex_destroy(&net->lock);
        free(net);
    }
    return NULL;
}

bool net_sends_names(const struct net *net)
{
    return net && net->names_to_proxy;
}

static struct lane *open_lane(const struct curl_api *api)
{
    struct lane *lane = calloc(1, sizeof *lane);
    if (!lane) {
        return NULL;
    }
    lane->api = api;
    lane->multi = api->multi_init();
    lane->share = api->share_init();
    if (!lane->multi || !lane->share ||
        api->share_setopt(lane->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE) != CURLSHE_OK) {
        close_lanes(lane);
        return NULL;
    }
    /* Only faster with it, so it may fail. */
    api->share_setopt(lane->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    api->multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS_KEPT);
    api->multi_setopt(lane->multi, CURLMOPT_MAX_HOST_CONNECTIONS, CONNECTIONS_TO_HOST);
    api->multi_setopt(lane->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, CONNECTIONS_IN_ALL);
    return lane;
}

static struct lane *take_idle(struct net *net)
{
    pthread_mutex_lock(&net->lock);
    struct lane *lane = net->idle;
    if (lane) {
        net->idle = lane->next;
        lane->next = NULL;
    }
    pthread_mutex_unlock(&net->lock);
    return lane;
}

struct lane *lane_lend(struct call *call, const char **problem)
{
    struct net *net = call_parts(call)->net;
    const struct curl_api *api = curl_api_open(problem);
    struct lane *lane = api && net ? take_idle(net) : NULL;
    if (api && !lane) {
        lane = open_lane(api);
        *problem = "out of memory";
    }
    if (lane) {
        lane->net = net;
    }
    return lane;
}

/* Cookies can be forgotten only through an easy handle that shares them. */
static int forget_cookies(struct lane *lane)
{
    struct curl_options options = {.api = lane->api, .easy = lane->api->easy_init()};
    if (!options.easy) {
        return ERR_NOMEM;
    }
    curl_set_pointer(&options, CURLOPT_SHARE, lane->share);
    curl_set_pointer(&options, CURLOPT_COOKIELIST, "ALL");
    lane->api->easy_cleanup(options.easy);
    return options.error == CURLE_OK ? OK : ERR_NOMEM;
}

/* Takes from the stack what has been idle for too long or is too much, and returns it. */
static struct lane *take_surplus(struct net *net, int64_t now)
{
    struct lane **link = &net->idle;
    for (int kept = 0; *link && kept < MOST_IDLE_LANES; kept++) {
        if (now - (*link)->idle_since_ms > IDLE_TIME_MS) {
            break; /* the ones below it are older still */
        }
        link = &(*link)->next;
    }
    struct lane *surplus = *link;
    *link = NULL;
    return surplus;
}

void lane_return(struct lane *lane)
{
    struct net *net = lane ? lane->net : NULL;
    if (!net || lane->broken || forget_cookies(lane) != OK) {
        close_lanes(lane);
        return;
    }
    lane->idle_since_ms = clock_now_ms();
    pthread_mutex_lock(&net->lock);
    lane->next = net->idle;
    net->idle = lane;
    struct lane *surplus = take_surplus(net, lane->idle_since_ms);
    pthread_mutex_unlock(&net->lock);
    close_lanes(surplus);
}
