/* Tools that answer at once, with every kind of content. */
#include "conformance_data.h"
#include "fixture.h"

static int run_simple_text(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    return reply_text(call, reply, "This is a simple text response for testing.");
}

static int run_image(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)call;
    (void)arguments;
    reply_block(reply, media_block(reply->doc, "image", RED_PIXEL_PNG, "image/png"));
    return OK;
}

static int run_audio(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)call;
    (void)arguments;
    reply_block(reply, media_block(reply->doc, "audio", SILENCE_WAV, "audio/wav"));
    return OK;
}

static int run_embedded_resource(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)call;
    (void)arguments;
    reply_block(reply, resource_block(reply->doc, "test://embedded-resource", "text/plain",
                                      "This is an embedded resource content."));
    return OK;
}

static int run_multiple_types(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)call;
    (void)arguments;
    yyjson_mut_doc *doc = reply->doc;
    reply_block(reply, text_block(doc, "Multiple content types test:"));
    reply_block(reply, media_block(doc, "image", RED_PIXEL_PNG, "image/png"));
    reply_block(reply, resource_block(doc, "test://mixed-content-resource", "application/json",
                                      "{\"test\":\"data\",\"value\":123}"));
    return OK;
}

static int run_error(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    reply->is_error = true;
    return reply_text(call, reply, "This tool intentionally returns an error for testing");
}

static int run_echo(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    return reply_text(call, reply, "%s", as_json(call, arguments));
}

static const struct tool TOOLS[] = {
    {DEFINITION("test_simple_text", "Answers with a text.", QUICK, NO_ARGUMENTS), run_simple_text,
     NULL},
    {DEFINITION("test_image_content", "Answers with an image.", QUICK, NO_ARGUMENTS), run_image,
     NULL},
    {DEFINITION("test_audio_content", "Answers with a sound.", QUICK, NO_ARGUMENTS), run_audio,
     NULL},
    {DEFINITION("test_embedded_resource", "Answers with a resource.", QUICK, NO_ARGUMENTS),
     run_embedded_resource, NULL},
    {DEFINITION("test_multiple_content_types", "Answers with a text, an image and a resource.",
                QUICK, NO_ARGUMENTS),
     run_multiple_types, NULL},
    {DEFINITION("test_error_handling", "Always fails.", QUICK, NO_ARGUMENTS), run_error, NULL},
    {definition_json_schema_2020_12_tool, run_echo, NULL},
    {definition_test_custom_header, run_echo, NULL},
};

int add_content_tools(struct registry *registry)
{
    return add_tools(registry, TOOLS, sizeof TOOLS / sizeof *TOOLS);
}
