/* The list of providers, and what their files share: making requests, reading answers. */
#include "config/config.h"
#include "core/status.h"
#include "text/text.h"
#include "websearch/provider.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct provider *const PROVIDERS[] = {
    &PROVIDER_SERPER, &PROVIDER_TAVILY, &PROVIDER_SEARXNG, &PROVIDER_BRAVE, &PROVIDER_EXA, NULL,
};

bool provider_configured(const struct provider *provider)
{
    if (provider->open) {
        return (provider->open->contact != CONTACT_NEEDED || config_is_set("FORAGE_CONTACT")) &&
               (!provider->open->no_address || config_is_set(provider->base_variable));
    }
    const char *needed =
        config_text(provider->key_variable ? provider->key_variable : provider->base_variable);
    return needed && *needed;
}

static const struct provider *find_in(const struct provider *const *list, const char *name)
{
    size_t i = 0;
    while (list[i] && strcmp(list[i]->name, name) != 0) {
        i++;
    }
    return list[i];
}

const struct provider *provider_named(const char *name)
{
    const struct provider *keyed = find_in(PROVIDERS, name);
    return keyed ? keyed : find_in(OPEN_SOURCES, name);
}

static size_t choose(const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1], size_t count,
                     const struct provider *provider)
{
    for (size_t i = 0; i < count; i++) {
        if (chosen[i] == provider) {
            return count;
        }
    }
    if (count < LIMIT_SEARCH_PROVIDERS && provider_configured(provider)) {
        chosen[count++] = provider;
    }
    return count;
}

int providers_chosen(const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1],
                     const char **unknown)
{
    size_t wanted;
    const char *const *names = config_list("FORAGE_SEARCH_PROVIDERS", &wanted);
    size_t count = 0;
    for (size_t i = 0; !wanted && PROVIDERS[i]; i++) {
        count = choose(chosen, count, PROVIDERS[i]);
    }
    for (size_t i = 0; i < wanted; i++) {
        const struct provider *provider = provider_named(names[i]);
        if (provider) {
            count = choose(chosen, count, provider);
        } else if (strcmp(names[i], OPEN_GROUP) != 0) {
            *unknown = names[i];
            return ERR_INVALID;
        }
        for (size_t j = 0; !provider && OPEN_SOURCES[j]; j++) {
            count = choose(chosen, count, OPEN_SOURCES[j]);
        }
    }
    chosen[count] = NULL;
    return OK;
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

/* ---- requests ---- */

static void add_header(struct provider_request *request, const char *name, const char *value,
                       bool secret)
{
    if (value && request->header_count < PROVIDER_MOST_HEADERS) {
        request->headers[request->header_count++] = (struct fetch_header){name, value, secret};
    }
}

void provider_header(struct provider_request *request, const char *name, const char *value)
{
    add_header(request, name, value, false);
}

/* forage's name; open sources get an address to write to, where the operator gives one. */
static const char *agent_for(struct arena *arena, const struct provider *provider)
{
    const char *contact = provider->open ? config_text("FORAGE_CONTACT") : NULL;
    if (provider->agent) {
        return provider->agent;
    }
    return contact && *contact ? arena_printf(arena, "forage/" FORAGE_VERSION " (%s)", contact)
                               : "forage/" FORAGE_VERSION;
}

static const char *body_of(struct provider_request *request)
{
    if (request->provider->posts) {
        yyjson_mut_val *whole = request->envelope ? request->envelope : request->members;
        return json_text(request->arena, whole, NULL);
    }
    return arena_strdup(request->arena, request->parameters.data + 1);
}

int provider_build(const struct provider *provider, struct provider_request *request)
{
    struct arena *arena = request->arena;
    const char *path = provider->paths[request->query->type];
    request->provider = provider;
    buf_init(&request->parameters, LIMIT_SEARCH_REQUEST_BYTES);
    add_header(request, "User-Agent", agent_for(arena, provider), false);
    add_header(request, "Accept", provider->accept ? provider->accept : "application/json", false);
    if (provider->key_header && request->key) {
        bool bearer = strcmp(provider->key_header, "Authorization") == 0;
        const char *value = arena_printf(arena, "%s%s", bearer ? "Bearer " : "", request->key);
        add_header(request, provider->key_header, value, true);
    }
    if (provider->posts) {
        request->doc = json_new(arena);
        request->members = yyjson_mut_obj(request->doc);
        add_header(request, "Content-Type", "application/json", false);
    }
    if (provider->form) {
        add_header(request, "Content-Type", "application/x-www-form-urlencoded", false);
    }
    int status = provider->build(request);
    bool bodied = provider->posts || provider->form;
    if (status == OK && buf_error(&request->parameters) == OK && bodied) {
        request->url = arena_printf(arena, "%s%s", request->base, path);
        request->body = body_of(request);
    } else if (status == OK && buf_error(&request->parameters) == OK) {
        request->url =
            arena_printf(arena, "%s%s?%s", request->base, path, request->parameters.data + 1);
    }
    buf_done(&request->parameters);
    /* A part that could not be made must not be missing silently. */
    bool whole = request->url && (request->body || !bodied) && !arena_failed(arena);
    return status == OK && !whole ? ERR_NOMEM : status;
}

void provider_put(struct provider_request *request, const char *name, const char *value)
{
    if (request->members) {
        json_add_string(request->doc, request->members, name, value);
    } else {
        query_put(&request->parameters, name, value);
    }
}

void provider_put_number(struct provider_request *request, const char *name, size_t value)
{
    if (request->members) {
        yyjson_mut_obj_add_uint(request->doc, request->members, name, value);
    } else {
        buf_printf(&request->parameters, "&%s=%zu", name, value);
    }
}

void provider_put_list(struct provider_request *request, const char *name, const char *const *items,
                       size_t count)
{
    if (count) {
        json_add_strings(request->doc, request->members, name, items, count);
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

void provider_check_type(struct provider_request *request)
{
    enum search_type type = request->query->type;
    if (request->provider->lacks[type]) {
        provider_left_out(request, "type: %s has no %s search; these are results of the web",
                          request->provider->title, SEARCH_TYPE_WORDS[type]);
    }
}

size_t provider_count_up_to(struct provider_request *request, size_t most)
{
    const struct search_query *query = request->query;
    size_t wanted = query->count * query->page;
    request->skip = query->count * (query->page - 1);
    size_t needed = query->enough ? request->skip + query->enough : wanted;
    if (needed > most) {
        provider_left_out(request, "page: the provider gives at most %zu results to a search",
                          most);
    }
    return wanted < most ? wanted : most;
}

/* ---- answers ---- */

/* An answer that is no JSON may be in no encoding at all, and may hold NULs. */
static int read_text(const struct provider *provider, struct arena *arena, const char *body,
                     size_t length, const struct search_query *query, struct hits *hits)
{
    char *text = arena_strndup(arena, body, length);
    if (!text) {
        return ERR_NOMEM;
    }
    text_repair(text);
    return provider->read(arena, text, strlen(text), query, hits);
}

int provider_read(const struct provider *provider, struct arena *arena, const char *body,
                  size_t length, const struct search_query *query, struct hits *hits)
{
    const struct hit_shape *shape = &provider->shapes[query->type];
    *hits = (struct hits){.items = arena_zalloc(arena, LIMIT_SEARCH_HITS * sizeof *hits->items)};
    if (!hits->items) {
        return ERR_NOMEM;
    }
    if (provider->read) {
        return read_text(provider, arena, body, length, query, hits);
    }
    yyjson_val *answer = yyjson_doc_get_root(json_parse(arena, body, length, NULL));
    if (!yyjson_is_obj(answer)) {
        return ERR_INVALID;
    }
    if (provider->parse) {
        return provider->parse(arena, answer, query, hits);
    }
    bool empty = provider->empty && !yyjson_obj_get(answer, shape->list) &&
                 yyjson_is_obj(yyjson_obj_get(answer, provider->empty));
    return empty ? OK : hits_add_all(hits, answer, shape);
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

int hits_add_each(struct arena *arena, yyjson_val *list, const struct search_query *query,
                  struct hits *hits,
                  struct hit (*read)(struct arena *arena, yyjson_val *item,
                                     const struct search_query *query))
{
    if (!yyjson_is_arr(list)) {
        return ERR_INVALID;
    }
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(list, index, max, item)
    {
        struct hit hit = read(arena, item, query);
        hits_add(hits, &hit);
    }
    return OK;
}

static const char *member(yyjson_val *object, const char *key)
{
    return key ? json_string(object, key) : NULL;
}

int hits_add_all(struct hits *hits, yyjson_val *answer, const struct hit_shape *shape)
{
    yyjson_val *list = yyjson_obj_get(answer, shape->list);
    if (!yyjson_is_arr(list)) {
        return ERR_INVALID;
    }
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(list, index, max, item)
    {
        hits_add(hits, &(struct hit){
                           .title = member(item, shape->title),
                           .link = member(item, shape->link),
                           .snippet = member(item, shape->snippet),
                           .published = member(item, shape->published),
                           .image = member(item, shape->image),
                       });
    }
    return OK;
}

/* ---- HTML in snippets ---- */

static const char *const TAGS[] = {"strong", "b", "em", "i", "br", "mark", "span"};

static const struct {
    const char *name;
    char letter;
} REFERENCES[] = {
    {"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}, {"nbsp;", ' '},
};

/* The length of a tag of the list at `at`, which is at '<'; 0 when it is none. */
static size_t tag_length(const char *at)
{
    const char *name = at + 1 + (at[1] == '/');
    size_t length = strcspn(name, " />\t\n<");
    for (size_t i = 0; i < sizeof TAGS / sizeof *TAGS; i++) {
        if (strlen(TAGS[i]) == length && strncasecmp(name, TAGS[i], length) == 0) {
            const char *end = strpbrk(name, "<>");
            return end && *end == '>' ? (size_t)(end - at) + 1 : 0;
        }
    }
    return 0;
}

/* Reads "#39;" or "#x27;" behind an ampersand. The bytes read; 0 when it is no character. */
static size_t read_number(const char *at, uint32_t *letter)
{
    bool hexadecimal = at[1] == 'x' || at[1] == 'X';
    const char *digits = at + 1 + hexadecimal;
    size_t length = strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789");
    if (length == 0 || length > 7 || digits[length] != ';') {
        return 0;
    }
    *letter = (uint32_t)strtoul(digits, NULL, hexadecimal ? 16 : 10);
    bool none = *letter < ' ' || (*letter >= 0xD800 && *letter <= 0xDFFF) || *letter > 0x10FFFF;
    return none ? 0 : (size_t)(digits - at) + length + 1;
}

/* Reads what follows an ampersand and writes what it means. The bytes read; 0 when it means
 * nothing. A reference is never shorter than what it stands for. */
static size_t read_reference(const char *at, char *out, size_t *written)
{
    uint32_t letter;
    size_t read = *at == '#' ? read_number(at, &letter) : 0;
    if (read) {
        *written = text_encode(letter, out);
        return read;
    }
    for (size_t i = 0; i < sizeof REFERENCES / sizeof *REFERENCES; i++) {
        size_t length = strlen(REFERENCES[i].name);
        if (strncmp(at, REFERENCES[i].name, length) == 0) {
            out[0] = REFERENCES[i].letter;
            *written = 1;
            return length;
        }
    }
    return 0;
}

const char *plain_text(struct arena *arena, const char *html)
{
    char *text = html ? arena_alloc(arena, strlen(html) + 1) : NULL;
    if (!text) {
        return NULL;
    }
    size_t length = 0;
    while (*html) {
        size_t written = 0;
        size_t read = *html == '<' ? tag_length(html) : 0;
        if (!read && *html == '&') {
            read = read_reference(html + 1, text + length, &written);
            read += read ? 1 : 0;
        }
        if (!read) {
            text[length] = *html;
            written = 1;
            read = 1;
        }
        length += written;
        html += read;
    }
    text[length] = '\0';
    return text;
}
