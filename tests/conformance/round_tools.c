/* Tools that need more than one question, and keep a state between the rounds. */
#include "conformance_data.h"
#include "fixture.h"

#include <string.h>

/* Where an answer is still missing, the state to come back with; anything else as it is. */
static int leave_state(struct call *call, int status, const char *state)
{
    if (status != ERR_NEED_INPUT) {
        return status;
    }
    int kept = state ? call_keep_state(call, state) : ERR_NOMEM;
    return kept == OK ? ERR_NEED_INPUT : kept;
}

static int run_request_state(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    static const char STATE[] = "waiting for a confirmation";
    (void)arguments;
    yyjson_val *response;
    int status = ask_client(call, "confirm", "elicitation/create", question_confirm, &response);
    if (status != OK) {
        return leave_state(call, status, STATE);
    }
    const char *state = call_resume_state(call);
    reply->is_error = !state || strcmp(state, STATE) != 0;
    return reply_text(call, reply, reply->is_error ? "the state was lost" : "state-ok");
}

/* Asks everything at once. */
static int run_multiple_inputs(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    static const struct {
        const char *key, *method, *params;
    } QUESTIONS[] = {
        {"user_name", "elicitation/create", question_name},
        {"greeting", "sampling/createMessage", question_greeting},
        {"client_roots", "roots/list", "{}"},
    };
    enum { COUNT = sizeof QUESTIONS / sizeof *QUESTIONS };
    (void)arguments;
    yyjson_val *responses[COUNT];
    int result = OK;
    for (size_t i = 0; i < COUNT; i++) {
        int status = ask_client(call, QUESTIONS[i].key, QUESTIONS[i].method, QUESTIONS[i].params,
                                &responses[i]);
        if (status != OK && status != ERR_NEED_INPUT) {
            return status;
        }
        result = status == OK ? result : status;
    }
    if (result != OK) {
        return leave_state(call, result, "waiting for three answers");
    }
    return reply_text(call, reply, "%s, %s! Roots: %s", sampled_text(responses[1]),
                      form_value(responses[0], "name"),
                      as_json(call, yyjson_obj_get(responses[2], "roots")));
}

#define NAME_IN_STATE "name:"

/* The second question needs what the first one brought, which only the state remembers. */
static int run_multi_round(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    const char *state = call_resume_state(call);
    const char *name = NULL;
    yyjson_val *response;
    if (state && strncmp(state, NAME_IN_STATE, strlen(NAME_IN_STATE)) == 0) {
        name = state + strlen(NAME_IN_STATE);
    } else {
        int status = ask_client(call, "step1", "elicitation/create", question_name, &response);
        if (status != OK) {
            return leave_state(call, status, "begun");
        }
        name = form_value(response, "name");
    }
    int status = ask_client(call, "step2", "elicitation/create", question_color, &response);
    if (status != OK) {
        return leave_state(call, status, arena_printf(call_arena(call), NAME_IN_STATE "%s", name));
    }
    return reply_text(call, reply, "%s likes %s.", name, form_value(response, "color"));
}

/* Asks what this client can answer, and nothing else. */
static int run_capabilities(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    static const struct {
        const char *capability, *method, *params;
    } QUESTIONS[] = {
        {"elicitation", "elicitation/create", question_name},
        {"sampling", "sampling/createMessage", question_greeting},
        {"roots", "roots/list", "{}"},
    };
    (void)arguments;
    int result = OK;
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        yyjson_val *response;
        if (!call_has_capability(call, QUESTIONS[i].capability)) {
            continue;
        }
        int status = ask_client(call, QUESTIONS[i].capability, QUESTIONS[i].method,
                                QUESTIONS[i].params, &response);
        if (status != OK && status != ERR_NEED_INPUT) {
            return status;
        }
        result = status == OK ? result : status;
    }
    return result == OK ? reply_text(call, reply, "Everything that could be asked was answered.")
                        : result;
}

static const struct tool TOOLS[] = {
    {DEFINITION("test_input_required_result_request_state", "Keeps a state.", SLOW, NO_ARGUMENTS),
     run_request_state, NULL},
    {DEFINITION("test_input_required_result_tampered_state",
                "Keeps a state that must come back "
                "as it was.",
                SLOW, NO_ARGUMENTS),
     run_request_state, NULL},
    {DEFINITION("test_input_required_result_multiple_inputs", "Asks three things at once.", SLOW,
                NO_ARGUMENTS),
     run_multiple_inputs, NULL},
    {DEFINITION("test_input_required_result_multi_round", "Asks twice.", SLOW, NO_ARGUMENTS),
     run_multi_round, NULL},
    {DEFINITION("test_input_required_result_capabilities", "Asks what the client can answer.", SLOW,
                NO_ARGUMENTS),
     run_capabilities, NULL},
};

int add_round_tools(struct registry *registry)
{
    return add_tools(registry, TOOLS, sizeof TOOLS / sizeof *TOOLS);
}
