/* What the loaders of sites share: taking a URL apart, and asking a service for JSON. */
#include "loaders/service.h"

#include "config/config.h"
#include "core/limits.h"

/* ---- whose a URL is ---- */

void path_split(const char *text, struct path *path)
{
    memset(path, 0, sizeof *path);
    text += strspn(text, "/");
    while (*text && path->count < PATH_SEGMENTS) {
        size_t length = strcspn(text, "/");
        path->segments[path->count++] = (struct slice){text, length};
        text += length;
        text += strspn(text, "/");
    }
    path->rest = text;
}

bool path_is(const struct path *path, size_t index, const char *word)
{
    return index < path->count && slice_is_any_case(path->segments[index], word);
}

bool path_is_number(const struct path *path, size_t index)
{
    return index < path->count && path->segments[index].length <= 18 &&
           strspn(path->segments[index].data, "0123456789") >= path->segments[index].length;
}

const char *path_from(const struct path *path, size_t index)
{
    return index < path->count ? path->segments[index].data : path->rest;
}

const char *host_plain(const char *host)
{
    return strncmp(host, "www.", 4) == 0 ? host + 4 : strncmp(host, "m.", 2) == 0 ? host + 2 : host;
}

bool host_below(const char *host, const char *domain, size_t *prefix_length)
{
    size_t host_length = strlen(host);
    size_t length = strlen(domain);
    if (host_length < length || strcmp(host + host_length - length, domain) != 0) {
        return false;
    }
    *prefix_length = host_length > length ? host_length - length - 1 : 0;
    return host_length == length || (host[*prefix_length] == '.' && *prefix_length > 0);
}

/* ---- asking ---- */

int service_open(struct service *service, struct call *call, const char *name, const char *variable,
                 const char *fallback, const char **why)
{
    static const struct fetch_header WHO[] = {{"User-Agent", SERVICE_USER_AGENT, false}};
    *service = (struct service){
        .call = call,
        .arena = call_arena(call),
        .name = name,
        .configured = config_is_set(variable),
        .headers = WHO,
        .header_count = 1,
        .why = why,
    };
    const char *base = config_text(variable);
    base = base ? base : fallback;
    size_t length = strlen(base);
    while (length > 0 && base[length - 1] == '/') {
        length--;
    }
    service->base = arena_strndup(service->arena, base, length);
    return service->base ? OK : ERR_NOMEM;
}

int service_fail(struct service *service, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *service->why = arena_vprintf(service->arena, format, args);
    va_end(args);
    return ERR_FAILED;
}

static int ask(struct service *service, struct source_response *response, const char *path,
               const char *body)
{
    struct url url;
    const char *text = path ? arena_printf(service->arena, "%s%s", service->base, path) : NULL;
    struct source_request request = {
        .url = &url,
        .accept = service->accept ? service->accept : "application/json",
        .headers = service->headers,
        .header_count = service->header_count,
        .body = body,
        .body_length = body ? strlen(body) : 0,
        .max_bytes = service->max_bytes ? service->max_bytes : LIMIT_LOADER_BYTES,
        .configured = service->configured,
        .uncached = service->uncached,
    };
    int status = text ? fetch_parse(service->call, text, &url, &response->fetched) : ERR_NOMEM;
    if (status == OK) {
        status = source_get(service->call, &request, response);
    }
    if (status == ERR_FAILED && service->guessed) {
        return ERR_NOTFOUND; /* the page itself will tell */
    }
    if (status == ERR_FAILED) {
        const char *error = response->fetched.error;
        return service_fail(service, "%s: %s", service->name, error ? error : "no answer");
    }
    return status;
}

int service_get(struct service *service, struct source_response *response, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *path = arena_vprintf(service->arena, format, args);
    va_end(args);
    return ask(service, response, path, NULL);
}

int service_post(struct service *service, struct source_response *response, const char *path,
                 const char *body)
{
    return body ? ask(service, response, path, body) : ERR_NOMEM;
}

bool service_is_over(int status)
{
    return status == ERR_CANCELLED || status == ERR_DEADLINE || status == ERR_NOMEM;
}

bool service_has_room(const struct service *service)
{
    return arena_used(service->arena) < LIMIT_LOADER_ARENA_BYTES;
}

int service_json(struct service *service, const struct source_response *response, yyjson_val **root)
{
    struct json_problem problem;
    yyjson_doc *doc =
        json_parse(service->arena, response->fetched.body, response->fetched.body_length, &problem);
    *root = yyjson_doc_get_root(doc);
    return doc ? OK
               : service_fail(service, "%s answered HTTP %d with something that is not JSON",
                              service->name, response->fetched.status);
}

int service_object(struct service *service, const struct source_response *response,
                   yyjson_val **object)
{
    int http_status = response->fetched.status;
    bool gone = http_status == 404 || http_status == 410 ||
                (service->guessed && http_status / 100 == 4 && http_status != 429);
    if (gone) {
        return ERR_NOTFOUND;
    }
    if (http_status != 200) {
        return service_fail(service, "%s answered HTTP %d", service->name, http_status);
    }
    const char *before = *service->why;
    int status = service_json(service, response, object);
    if (status == OK && !yyjson_is_obj(*object)) {
        status = service_fail(service, "%s answered with something else", service->name);
    }
    if (status == ERR_FAILED && service->guessed) {
        *service->why = before; /* it is another kind of site, and nothing to tell of */
        return ERR_NOTFOUND;
    }
    return status;
}

int service_open_at(struct service *service, struct call *call, const char *name,
                    const char *variable, const struct url *url, struct slice prefix,
                    const char **why)
{
    bool ipv6 = url_host_is_ipv6(url->host);
    const char *base =
        arena_printf(call_arena(call), "%s://%s%s%s%.*s", url->scheme, ipv6 ? "[" : "", url->host,
                     ipv6 ? "]" : "", (int)prefix.length, prefix.data ? prefix.data : "");
    int status = base ? service_open(service, call, name, variable, base, why) : ERR_NOMEM;
    service->guessed = !service->configured;
    return status;
}

int service_list_add(struct arena *arena, struct service_list *list, yyjson_val *array)
{
    size_t more = yyjson_arr_size(array);
    if (more == 0) {
        return OK;
    }
    yyjson_val **items = arena_realloc(arena, list->items, list->count * sizeof *items,
                                       (list->count + more) * sizeof *items);
    if (!items) {
        return ERR_NOMEM;
    }
    list->items = items;
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(array, index, max, item)
    {
        if (yyjson_is_obj(item)) {
            items[list->count++] = item;
        }
    }
    return OK;
}

yyjson_val *service_array(yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    return yyjson_is_arr(value) ? value : NULL;
}

int64_t service_int(yyjson_val *object, const char *key)
{
    return yyjson_get_sint(yyjson_obj_get(object, key));
}

bool service_bool(yyjson_val *object, const char *key)
{
    return yyjson_get_bool(yyjson_obj_get(object, key));
}
