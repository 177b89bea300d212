/* The resources: a text, bytes, one to subscribe to, and a template; and skills, whose files are
 * resources too. */
#include "fixture.h"

#include <string.h>

static int read_text(struct call *call, const char *uri, struct resource_content *content)
{
    (void)call;
    (void)uri;
    content->text = "This is the content of the static text resource.";
    return OK;
}

static int read_binary(struct call *call, const char *uri, struct resource_content *content)
{
    (void)call;
    (void)uri;
    content->blob_base64 = RED_PIXEL_PNG;
    return OK;
}

static int read_watched(struct call *call, const char *uri, struct resource_content *content)
{
    (void)call;
    (void)uri;
    content->text = "This resource can be subscribed to, and never changes.";
    return OK;
}

#define TEMPLATE_START "test://template/"
#define TEMPLATE_END   "/data"

static int read_template(struct call *call, const char *uri, struct resource_content *content)
{
    const char *id = uri + strlen(TEMPLATE_START);
    const char *end = strstr(id, TEMPLATE_END);
    if (!end || strcspn(id, "\"\\") < (size_t)(end - id)) {
        return ERR_NOTFOUND;
    }
    int length = (int)(end - id);
    content->text = arena_printf(
        call_arena(call), "{\"id\":\"%.*s\",\"templateTest\":true,\"data\":\"Data for ID: %.*s\"}",
        length, id, length, id);
    return content->text ? OK : ERR_NOMEM;
}

static int complete_id(struct call *call, const char *argument, const char *prefix,
                       yyjson_mut_doc *doc, yyjson_mut_val *values)
{
    (void)call;
    if (strcmp(argument, "id") == 0 && strncmp("123", prefix, strlen(prefix)) == 0) {
        yyjson_mut_arr_add_str(doc, values, "123");
    }
    return OK;
}

static const struct resource RESOURCES[] = {
    {"test://static-text", "static-text", "Static text", "A text that stays as it is.",
     "text/plain", read_text, NULL},
    {"test://static-binary", "static-binary", "Static image", "An image of one red pixel.",
     "image/png", read_binary, NULL},
    {"test://watched-resource", "watched-resource", "Watched text", "A text to subscribe to.",
     "text/plain", read_watched, NULL},
    {TEMPLATE_START "{id}" TEMPLATE_END, "template", "Data by id",
     "Tells the id that it was asked for.", "application/json", read_template, complete_id},
};

static const struct skill_file SKILL_FILES[] = {
    {"SKILL.md", "text/markdown",
     "---\nname: test-skill\ndescription: A skill with files in folders, for the suite to walk "
     "through.\nlicense: MIT\n---\n\n# Test\n\nSee templates/letter.md.\n"},
    {"templates/letter.md", "text/markdown", "Dear reader,\n"},
    {"templates/old/letter.md", "text/markdown", "Sir,\n"},
    {"templates/old/note.txt", "text/plain", "Note.\n"},
    {0},
};

static const struct skill SKILL = {"test-skill", SKILL_FILES};

int add_resources(struct registry *registry)
{
    int status = registry_add_skill(registry, &SKILL);
    for (size_t i = 0; status == OK && i < sizeof RESOURCES / sizeof *RESOURCES; i++) {
        status = registry_add_resource(registry, &RESOURCES[i]);
    }
    return status;
}
