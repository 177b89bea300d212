/* The prompts: with and without arguments, with a resource, with an image, and one that has to ask.
 */
#include "conformance_data.h"
#include "fixture.h"

#include <string.h>

static void add_message(yyjson_mut_doc *doc, yyjson_mut_val *messages, yyjson_mut_val *content)
{
    yyjson_mut_val *message = yyjson_mut_obj(doc);
    json_add_string(doc, message, "role", "user");
    yyjson_mut_obj_add_val(doc, message, "content", content);
    yyjson_mut_arr_append(messages, message);
}

static int get_simple(struct call *call, yyjson_val *arguments, yyjson_mut_doc *doc,
                      yyjson_mut_val *messages)
{
    (void)call;
    (void)arguments;
    add_message(doc, messages, text_block(doc, "This is a simple prompt for testing."));
    return OK;
}

static int get_with_arguments(struct call *call, yyjson_val *arguments, yyjson_mut_doc *doc,
                              yyjson_mut_val *messages)
{
    const char *text = arena_printf(call_arena(call), "Prompt with arguments: arg1='%s', arg2='%s'",
                                    json_string(arguments, "arg1"), json_string(arguments, "arg2"));
    add_message(doc, messages, text_block(doc, text));
    return text ? OK : ERR_NOMEM;
}

static int get_with_resource(struct call *call, yyjson_val *arguments, yyjson_mut_doc *doc,
                             yyjson_mut_val *messages)
{
    (void)call;
    add_message(doc, messages,
                resource_block(doc, json_string(arguments, "resourceUri"), "text/plain",
                               "Embedded resource content for testing."));
    add_message(doc, messages, text_block(doc, "Please process the embedded resource above."));
    return OK;
}

static int get_with_image(struct call *call, yyjson_val *arguments, yyjson_mut_doc *doc,
                          yyjson_mut_val *messages)
{
    (void)call;
    (void)arguments;
    add_message(doc, messages, media_block(doc, "image", RED_PIXEL_PNG, "image/png"));
    add_message(doc, messages, text_block(doc, "Please analyze the image above."));
    return OK;
}

static int get_after_asking(struct call *call, yyjson_val *arguments, yyjson_mut_doc *doc,
                            yyjson_mut_val *messages)
{
    (void)arguments;
    yyjson_val *response;
    int status =
        ask_client(call, "user_context", "elicitation/create", question_context, &response);
    if (status != OK) {
        return status;
    }
    const char *text =
        arena_printf(call_arena(call), "Work in this context: %s", form_value(response, "context"));
    add_message(doc, messages, text_block(doc, text));
    return text ? OK : ERR_NOMEM;
}

static int complete(struct call *call, const char *argument, const char *prefix,
                    yyjson_mut_doc *doc, yyjson_mut_val *values)
{
    static const char *const WORDS[] = {"paris", "park", "party", "test"};
    (void)call;
    for (size_t i = 0; strcmp(argument, "arg1") == 0 && i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strncmp(WORDS[i], prefix, strlen(prefix)) == 0) {
            yyjson_mut_arr_add_str(doc, values, WORDS[i]);
        }
    }
    return OK;
}

static const struct prompt_argument TWO_ARGUMENTS[] = {
    {"arg1", NULL, "First test argument", true},
    {"arg2", NULL, "Second test argument", true},
    {0},
};

static const struct prompt_argument RESOURCE_ARGUMENTS[] = {
    {"resourceUri", NULL, "URI of the resource to embed", true},
    {0},
};

static const struct prompt PROMPTS[] = {
    {"test_simple_prompt", "Simple prompt", "Needs nothing.", NULL, get_simple, NULL},
    {"test_prompt_with_arguments", "Prompt with arguments", "Repeats its arguments.", TWO_ARGUMENTS,
     get_with_arguments, complete},
    {"test_prompt_with_embedded_resource", "Prompt with a resource", "Embeds a resource.",
     RESOURCE_ARGUMENTS, get_with_resource, NULL},
    {"test_prompt_with_image", "Prompt with an image", "Shows an image.", NULL, get_with_image,
     NULL},
    {"test_input_required_result_prompt", "Prompt that asks", "Asks for a context first.", NULL,
     get_after_asking, NULL},
};

int add_prompts(struct registry *registry)
{
    int status = OK;
    for (size_t i = 0; status == OK && i < sizeof PROMPTS / sizeof *PROMPTS; i++) {
        status = registry_add_prompt(registry, &PROMPTS[i]);
    }
    return status;
}
