/* The names of fake_names.h, in place of the system's. */
#include "fake_names.h"

#include "net/ares_api.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_released;
static char current[INET_ADDRSTRLEN];
static int stuck;   /* look-ups that wait now */
static int lookups; /* all look-ups so far */

void fake_names_await(int count)
{
    pthread_mutex_lock(&lock);
    while (stuck != count) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

void fake_names_release(void)
{
    pthread_mutex_lock(&lock);
    is_released = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    fake_names_await(0);
    pthread_mutex_lock(&lock);
    is_released = false;
    pthread_mutex_unlock(&lock);
}

int fake_names_count(void)
{
    pthread_mutex_lock(&lock);
    int count = lookups;
    pthread_mutex_unlock(&lock);
    return count;
}

void fake_names_switch(const char *address)
{
    pthread_mutex_lock(&lock);
    snprintf(current, sizeof current, "%s", address);
    pthread_mutex_unlock(&lock);
}

static void block(void)
{
    pthread_mutex_lock(&lock);
    stuck++;
    pthread_cond_broadcast(&changed);
    while (!is_released) {
        pthread_cond_wait(&changed, &lock);
    }
    stuck--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void add(struct addrinfo **list, int family, const char *text)
{
    struct addrinfo *entry = calloc(1, sizeof *entry);
    struct sockaddr_storage *address = calloc(1, sizeof *address);
    if (!entry || !address) {
        abort();
    }
    address->ss_family = (sa_family_t)family;
    entry->ai_family = family;
    entry->ai_addr = (struct sockaddr *)address;
    entry->ai_addrlen = sizeof(struct sockaddr_in);
    if (family == AF_INET) {
        inet_pton(AF_INET, text, &((struct sockaddr_in *)address)->sin_addr);
    } else if (family == AF_INET6) {
        inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)address)->sin6_addr);
        entry->ai_addrlen = sizeof(struct sockaddr_in6);
    }
    while (*list) {
        list = &(*list)->ai_next;
    }
    *list = entry;
}

static int answer(const char *node, struct addrinfo **list)
{
    static const struct {
        const char *name;
        int error;
    } FAILING[] = {{"again.test", EAI_AGAIN},
                   {"broken.test", EAI_FAIL},
                   {"empty.test", EAI_NODATA},
                   {"memory.test", EAI_MEMORY},
                   {"strange.test", EAI_SYSTEM}};
    unsigned byte[4];
    char text[INET_ADDRSTRLEN];
    const char *at = strstr(node, "at-");
    if (at && sscanf(at, "at-%3u-%3u-%3u-%3u.test", &byte[0], &byte[1], &byte[2], &byte[3]) == 4) {
        snprintf(text, sizeof text, "%u.%u.%u.%u", byte[0] & 255, byte[1] & 255, byte[2] & 255,
                 byte[3] & 255);
        add(list, AF_INET, text);
        return 0;
    }
    if (strcmp(node, "two.test") == 0) {
        add(list, AF_INET6, "::1");
        add(list, AF_INET, "127.0.0.1");
        return 0;
    }
    if (strcmp(node, "mixed.test") == 0) {
        add(list, AF_INET, "127.0.0.1");
        add(list, AF_INET, "127.0.0.66");
        return 0;
    }
    if (strcmp(node, "switch.test") == 0) {
        pthread_mutex_lock(&lock);
        add(list, AF_INET, current);
        pthread_mutex_unlock(&lock);
        return 0;
    }
    if (strcmp(node, "odd.test") == 0) {
        add(list, AF_UNIX, "");
        return 0;
    }
    for (int i = 0; strcmp(node, "many.test") == 0 && i < 40; i++) {
        add(list, AF_INET, "192.0.2.1");
    }
    for (size_t i = 0; i < sizeof FAILING / sizeof *FAILING; i++) {
        if (strcmp(node, FAILING[i].name) == 0) {
            return FAILING[i].error;
        }
    }
    return *list ? 0 : EAI_NONAME;
}

/* In place of net/ares_api.c: every look-up is the system's. */
const struct ares_api *ares_api_open(const char **problem)
{
    *problem = "c-ares is not there";
    return NULL;
}

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict list)
{
    (void)service;
    (void)hints;
    *list = NULL;
    pthread_mutex_lock(&lock);
    lookups++;
    pthread_mutex_unlock(&lock);
    if (strcmp(node, "stuck.test") == 0) {
        block();
        add(list, AF_INET, "127.0.0.1");
        return 0;
    }
    return answer(node, list);
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list) {
        struct addrinfo *next = list->ai_next;
        free(list->ai_addr);
        free(list);
        list = next;
    }
}
