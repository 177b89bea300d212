/* The table of providers, and what their files share. */
#include "websearch/provider.h"

#include "config/config.h"
#include "core/status.h"

#include <string.h>

const struct provider *const PROVIDERS[] = {
    &PROVIDER_SERPER, &PROVIDER_TAVILY, &PROVIDER_SEARXNG, &PROVIDER_BRAVE, &PROVIDER_EXA, NULL,
};

const struct provider *provider_named(const char *name)
{
    for (size_t i = 0; PROVIDERS[i]; i++) {
        if (strcmp(PROVIDERS[i]->name, name) == 0) {
            return PROVIDERS[i];
        }
    }
    return NULL;
}

bool provider_configured(const struct provider *provider)
{
    const char *needed =
        config_text(provider->key_variable ? provider->key_variable : provider->base_variable);
    return needed && *needed;
}

int providers_chosen(const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1],
                     const char **unknown)
{
    size_t wanted;
    const char *const *names = config_list("FORAGE_SEARCH_PROVIDERS", &wanted);
    size_t count = 0;
    for (size_t i = 0; wanted ? i < wanted : PROVIDERS[i] != NULL; i++) {
        const struct provider *provider = wanted ? provider_named(names[i]) : PROVIDERS[i];
        if (!provider) {
            *unknown = names[i];
            return ERR_INVALID;
        }
        bool twice = false;
        for (size_t j = 0; j < count; j++) {
            twice |= chosen[j] == provider;
        }
        if (!twice && provider_configured(provider)) {
            chosen[count++] = provider;
        }
    }
    chosen[count] = NULL;
    return OK;
}

/* ---- requests ---- */

int provider_build(const struct provider *provider, struct provider_request *request)
{
    int status = provider->build(request);
    /* A part that could not be made must not be missing silently. */
    return status == OK && arena_failed(request->arena) ? ERR_NOMEM : status;
}

void provider_header(struct provider_request *request, const char *name, const char *value,
                     bool secret)
{
    if (request->header_count < PROVIDER_MOST_HEADERS) {
        request->headers[request->header_count++] = (struct fetch_header){name, value, secret};
    }
}

void remarks_add(struct remarks *remarks, const char *text)
{
    for (size_t i = 0; i < remarks->count; i++) {
        if (strcmp(remarks->items[i], text) == 0) {
            return;
        }
    }
    if (remarks->count < LIMIT_SEARCH_REMARKS) {
        remarks->items[remarks->count++] = text;
    }
}

void provider_left_out(struct provider_request *request, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(request->arena, format, args);
    va_end(args);
    if (text) {
        remarks_add(&request->left_out, text);
    }
}

int provider_post(struct provider_request *request, const char *path, yyjson_mut_val *body)
{
    request->url = arena_printf(request->arena, "%s%s", request->base, path);
    request->body = json_text(request->arena, body, NULL);
    provider_header(request, "Content-Type", "application/json", false);
    return request->url && request->body ? OK : ERR_NOMEM;
}

size_t provider_count_up_to(struct provider_request *request, size_t most)
{
    const struct search_query *query = request->query;
    size_t wanted = query->count * query->page;
    request->skip = query->count * (query->page - 1);
    if (wanted > most) {
        provider_left_out(request, "page: the provider gives at most %zu results to a search",
                          most);
        wanted = most;
    }
    return wanted;
}

void provider_add_list(yyjson_mut_doc *doc, yyjson_mut_val *body, const char *key,
                       const char *const *items, size_t count)
{
    yyjson_mut_val *list = count ? yyjson_mut_obj_add_arr(doc, body, key) : NULL;
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_arr_add_str(doc, list, items[i]);
    }
}

/* ---- answers ---- */

int hits_init(struct arena *arena, struct hits *hits)
{
    *hits = (struct hits){.items = arena_zalloc(arena, LIMIT_SEARCH_HITS * sizeof *hits->items)};
    return hits->items ? OK : ERR_NOMEM;
}

void hits_add(struct hits *hits, const struct hit *hit)
{
    if (hits->count == LIMIT_SEARCH_HITS || !hit->link || !*hit->link ||
        strlen(hit->link) > LIMIT_SEARCH_LINK_BYTES) {
        return;
    }
    struct hit *added = &hits->items[hits->count++];
    *added = *hit;
    added->title = hit->title && *hit->title ? hit->title : hit->link;
    added->snippet = hit->snippet ? hit->snippet : "";
}

static const char *member(yyjson_val *object, const char *key)
{
    return key ? json_string(object, key) : NULL;
}

int hits_add_all(struct hits *hits, yyjson_val *array, const struct hit_keys *keys)
{
    if (!yyjson_is_arr(array)) {
        return ERR_INVALID;
    }
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(array, index, max, item)
    {
        hits_add(hits, &(struct hit){
                           .title = member(item, keys->title),
                           .link = member(item, keys->link),
                           .snippet = member(item, keys->snippet),
                           .published = member(item, keys->published),
                           .image = member(item, keys->image),
                       });
    }
    return OK;
}
