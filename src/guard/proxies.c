/* The proxies that are named: a list of ranges. */
#include "guard/proxies.h"

#include "guard/ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_ITEMS 256

struct proxy_range {
    struct range range;
    bool ipv6;
};

struct proxies {
    size_t count;
    struct proxy_range entries[];
};

static const char *const YES[] = {"yes", "true", "on", "1", NULL};
static const char *const NO[] = {"no", "false", "off", "0", NULL};

/* What "yes" stands for. */
static const struct proxy_range THIS_MACHINE[] = {
    {{{127}, 8}, false},
    {{{[15] = 1}, 128}, true},
};
#define PER_ITEM (sizeof THIS_MACHINE / sizeof *THIS_MACHINE)

static bool is_one_of(const char *const *words, const char *text)
{
    while (*words && strcasecmp(*words, text) != 0) {
        words++;
    }
    return *words != NULL;
}

static bool add_item(struct proxies *proxies, const char *item)
{
    if (is_one_of(YES, item)) {
        memcpy(&proxies->entries[proxies->count], THIS_MACHINE, sizeof THIS_MACHINE);
        proxies->count += PER_ITEM;
        return true;
    }
    struct proxy_range *entry = &proxies->entries[proxies->count++];
    return range_read(item, &entry->range, &entry->ipv6);
}

struct proxies *proxies_new(const char *const *items, char *problem, size_t size)
{
    size_t count = 0;
    while (items[count]) {
        count++;
    }
    if (count == 1 && is_one_of(NO, items[0])) {
        count = 0;
    }
    if (count > MOST_ITEMS) {
        snprintf(problem, size, "has more than %d entries", MOST_ITEMS);
        return NULL;
    }
    struct proxies *proxies =
        calloc(1, sizeof *proxies + count * PER_ITEM * sizeof(struct proxy_range));
    if (!proxies) {
        snprintf(problem, size, "needs too much memory");
    }
    for (size_t i = 0; proxies && i < count; i++) {
        if (!add_item(proxies, items[i])) {
            snprintf(problem, size,
                     "has \"%.64s\", which is no address or range; name the proxies, such as "
                     "10.0.0.7,fd00::/8, or say yes for one on this machine",
                     items[i]);
            return proxies_free(proxies);
        }
    }
    return proxies;
}

struct proxies *proxies_free(struct proxies *proxies)
{
    free(proxies);
    return NULL;
}

bool proxies_hold(const struct proxies *proxies, const char *text)
{
    struct address address;
    if (proxies->count == 0 || !address_read(text, &address)) {
        return false;
    }
    for (size_t i = 0; i < proxies->count; i++) {
        const struct proxy_range *entry = &proxies->entries[i];
        if (entry->ipv6 == address.ipv6 && range_holds(&entry->range, address.bytes)) {
            return true;
        }
    }
    return false;
}
