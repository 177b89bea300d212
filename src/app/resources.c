/* The resources: a guide for agents, and the status. */
#include "app/resources.h"

#include "core/limits.h"
#include "embedded.h"
#include "ops/status.h"

static int read_guide(struct call *call, const char *uri, struct resource_content *content)
{
    (void)call;
    (void)uri;
    content->text = guide;
    return OK;
}

static int read_status(struct call *call, const char *uri, struct resource_content *content)
{
    (void)uri;
    struct arena *arena = call_arena(call);
    yyjson_mut_doc *doc = json_new(arena);
    struct buf text;
    buf_init(&text, LIMIT_MESSAGE_BYTES);
    int status = doc ? json_write_pretty(&text, arena, status_describe(doc, NULL)) : ERR_NOMEM;
    if (status == OK) {
        content->text = arena_strdup(arena, text.data);
    }
    buf_done(&text);
    return status == OK && !content->text ? ERR_NOMEM : status;
}

static const struct resource RESOURCES[] = {
    {
        .uri = "forage://guide",
        .name = "guide",
        .title = "How to use forage",
        .description = "Which tool to use when, how to read results and errors.",
        .mime = "text/markdown",
        .read = read_guide,
    },
    {
        .uri = "forage://status",
        .name = "status",
        .title = "Server status",
        .description = "Version, tools and whether each is ready, uptime and counts.",
        .mime = "application/json",
        .read = read_status,
    },
};

int resources_register(struct registry *registry)
{
    for (size_t i = 0; i < sizeof RESOURCES / sizeof *RESOURCES; i++) {
        int status = registry_add_resource(registry, &RESOURCES[i]);
        if (status != OK) {
            return status;
        }
    }
    return OK;
}
