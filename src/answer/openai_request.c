/* What is sent to the Responses API, and when it is sent again. */
#include "answer/openai.h"
#include "core/id.h"
#include "core/limits.h"
#include "text/json.h"

#include <string.h>

static const struct {
    const char *name;
    enum openai_choice choice;
} CHOICES[] = {
    {"temperature", OPENAI_TEMPERATURE}, {"reasoning", OPENAI_REASONING},
    {"include", OPENAI_INCLUDE},         {"store", OPENAI_STORE},
    {"tool_choice", OPENAI_TOOL_CHOICE}, {"max_output_tokens", OPENAI_MAX_TOKENS},
};

static void add_tools(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *country,
                      unsigned choices)
{
    yyjson_mut_val *tool = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, root, "tools"));
    yyjson_mut_obj_add_str(doc, tool, "type", "web_search");
    if (choices & OPENAI_LOCATION) {
        /* Without any location the API searches as if from the United States. */
        yyjson_mut_val *place = yyjson_mut_obj_add_obj(doc, tool, "user_location");
        yyjson_mut_obj_add_str(doc, place, "type", "approximate");
        json_add_string(doc, place, "country", country);
    }
}

static void add_choices(yyjson_mut_doc *doc, yyjson_mut_val *root,
                        const struct openai_settings *settings, unsigned choices,
                        int64_t max_tokens)
{
    if (choices & OPENAI_TOOL_CHOICE) {
        yyjson_mut_obj_add_str(doc, root, "tool_choice", "required");
    }
    if (choices & OPENAI_INCLUDE) {
        yyjson_mut_val *include = yyjson_mut_obj_add_arr(doc, root, "include");
        yyjson_mut_arr_add_str(doc, include, "web_search_call.action.sources");
    }
    if (choices & OPENAI_STORE) {
        yyjson_mut_obj_add_bool(doc, root, "store", false);
    }
    if (choices & OPENAI_MAX_TOKENS) {
        yyjson_mut_obj_add_int(doc, root, "max_output_tokens", max_tokens);
    }
    if (choices & OPENAI_REASONING) {
        yyjson_mut_val *reasoning = yyjson_mut_obj_add_obj(doc, root, "reasoning");
        yyjson_mut_obj_add_str(doc, reasoning, "effort", "low");
    }
    if (settings->temperature && (choices & OPENAI_TEMPERATURE)) {
        yyjson_mut_val *value = yyjson_mut_raw(doc, settings->temperature);
        yyjson_mut_obj_add_val(doc, root, "temperature", value);
    }
}

const char *openai_body(struct arena *arena, const struct openai_settings *settings,
                        const struct openai_question *question, unsigned choices,
                        int64_t max_tokens, size_t *length)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, root, "model", settings->model);
    yyjson_mut_obj_add_str(doc, root, "instructions", question->instructions);
    yyjson_mut_obj_add_str(doc, root, "input", question->input);
    add_tools(doc, root, question->country, choices);
    add_choices(doc, root, settings, choices, max_tokens);
    return json_text(arena, root, length);
}

unsigned openai_choice(const char *param)
{
    if (!param) {
        return 0;
    }
    if (strstr(param, "user_location")) {
        return OPENAI_LOCATION;
    }
    for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES; i++) {
        size_t length = strlen(CHOICES[i].name);
        bool begins = strncmp(param, CHOICES[i].name, length) == 0;
        if (begins && (!param[length] || strchr(".[", param[length]))) {
            return CHOICES[i].choice;
        }
    }
    return 0;
}

int64_t openai_backoff_ms(int retry)
{
    uint32_t chance;
    if (id_random(&chance, sizeof chance) != OK) {
        chance = 0; /* the shortest pause, as for everybody whose system has no dice */
    }
    int64_t most = (int64_t)TIME_ANSWER_BACKOFF_MS << retry;
    return most / 2 + chance % (uint32_t)(most / 2);
}
