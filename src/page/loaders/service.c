/* Services: where they are and how they are asked. */
#include "page/loaders/service.h"

#include "config/config.h"
#include "core/limits.h"

#include <string.h>

int service_open(struct service *service, struct call *call, const char *name, const char *variable,
                 const char *fallback, const char **why)
{
    static const struct fetch_header WHO[] = {{"User-Agent", SERVICE_USER_AGENT, false}};
    *service = (struct service){
        .call = call,
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
    service->base = arena_strndup(call_arena(call), base, length);
    return service->base ? OK : ERR_NOMEM;
}

int service_fail(struct service *service, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *service->why = arena_vprintf(call_arena(service->call), format, args);
    va_end(args);
    return ERR_FAILED;
}

int service_ask(struct service *service, const char *path, const char *body,
                struct source_response *response)
{
    struct url url;
    char *text = arena_printf(call_arena(service->call), "%s%s", service->base, path);
    if (!text) {
        return ERR_NOMEM;
    }
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
    int status = fetch_parse(service->call, text, &url, &response->fetched);
    if (status == OK) {
        status = source_get(service->call, &request, response);
    }
    if (status == ERR_FAILED) {
        const char *error = response->fetched.error;
        return service_fail(service, "%s: %s", service->name, error ? error : "no answer");
    }
    return status;
}

bool service_has_room(const struct service *service)
{
    return arena_used(call_arena(service->call)) < LIMIT_LOADER_ARENA_BYTES;
}

yyjson_val *service_json(struct service *service, const struct source_response *response)
{
    struct json_problem problem;
    yyjson_doc *doc = json_parse(call_arena(service->call), response->fetched.body,
                                 response->fetched.body_length, &problem);
    if (!doc) {
        service_fail(service, "%s answered HTTP %d with something that is not JSON", service->name,
                     response->fetched.status);
        return NULL;
    }
    return yyjson_doc_get_root(doc);
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
