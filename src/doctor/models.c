/* The checks of language models, of research and of answers: which one the settings mean, where it
 * is asked and with which key; online, whether it answers and uses a tool. */
#include "answer/answer.h"
#include "config/config.h"
#include "core/limits.h"
#include "doctor/check.h"
#include "model/model.h"
#include "websearch/websearch.h"

#define MOST_TOKENS 1024 /* enough for a model that thinks before it says one word */

/* One small question with a tool in reach. */
static int try_model(struct look *look, struct model *model, struct model_reply *reply)
{
    static const struct model_tool TOOL = {
        .name = "answer",
        .description = "Gives the answer to the user.",
        .schema = "{\"type\":\"object\",\"properties\":{\"word\":{\"type\":\"string\"}},"
                  "\"required\":[\"word\"]}",
    };
    static const struct model_message MESSAGE = {
        .role = MODEL_USER,
        .text = "Use the tool answer with the word: yes",
    };
    const struct model_request request = {
        .messages = &MESSAGE,
        .message_count = 1,
        .tools = &TOOL,
        .tool_count = 1,
        .max_tokens = MOST_TOKENS,
    };
    return model_ask(look->call, model, &request, reply);
}

static void report_try(struct look *look, struct model *model)
{
    struct model_reply reply = {0};
    int status = try_model(look, model, &reply);
    const struct call_error *error = call_error(look->call);
    const char *label = model_label(model);
    switch (status) {
    case OK:
        report(look, reply.use_count ? FINDING_OK : FINDING_WARNING, "%s answers%s", label,
               reply.use_count ? " and uses tools"
                               : ", but did not use the tool that it was asked to use");
        break;
    case ERR_UNSUPPORTED:
        report(look, FINDING_WARNING, "%s answers, but its server takes no tools", label);
        break;
    case ERR_LIMIT:
        report(look, FINDING_BROKEN, "%s: one small question is too long for its context", label);
        break;
    case ERR_DEADLINE:
        report(look, FINDING_WARNING, "%s did not answer within %d seconds; it may be loading",
               label, TIME_DOCTOR_CHECK_MS / 1000);
        break;
    default:
        report(look, FINDING_BROKEN, "%s: %s", label, error ? error->message : status_name(status));
    }
}

void look_at_language_model(struct look *look)
{
    char problem[512];
    struct model *model;
    int status = model_choose(call_arena(look->call), NULL, &model, problem, sizeof problem);
    if (status == ERR_NOTFOUND) {
        report(look, FINDING_MISSING, "FORAGE_MODEL is not set");
        suggest_setting(look, "FORAGE_MODEL", "ollama:qwen3:8b");
        return;
    }
    if (status != OK) {
        report(look, FINDING_BROKEN, "FORAGE_MODEL: %s",
               status == ERR_INVALID ? problem : status_name(status));
        suggest_setting(look, "FORAGE_MODEL", "ollama:qwen3:8b");
        return;
    }
    const char *key = model_key_variable(model);
    const char *caution = model_caution(model);
    report(look, FINDING_OK, "%s at %s, %s%s%s%s", model_label(model), model_address(model),
           key ? "with the key of " : "without a key", key ? key : "", caution ? "; " : "",
           caution ? caution : "");
    if (look->options->online) {
        report_try(look, model);
    }
}

bool look_at_answering_model(struct look *look)
{
    char problem[512];
    struct model *model;
    const char *label = answer_own_model();
    const char *variable =
        config_is_set("FORAGE_ANSWER_MODEL") ? "FORAGE_ANSWER_MODEL" : "FORAGE_MODEL";
    if (!label) {
        return false;
    }
    int status = model_choose(call_arena(look->call), label, &model, problem, sizeof problem);
    if (status != OK) {
        report(look, FINDING_BROKEN, "%s: %s", variable,
               status == ERR_INVALID ? problem : status_name(status));
        suggest_setting(look, variable, "ollama:qwen3:8b");
    } else if (!search_ready(problem, sizeof problem)) {
        report(look, FINDING_MISSING, "not asked: %s answers, but nothing searches for it; %s",
               model_label(model), problem);
        suggest_setting(look, "FORAGE_SEARCH_PROVIDERS", "open");
    } else {
        report(look, FINDING_OK, "not asked: %s at %s answers, with forage's own search",
               model_label(model), model_address(model));
        if (look->options->online) {
            report_try(look, model);
        }
    }
    return true;
}
