/* Reads errors of all dialects, and judges them by status, code and words. */
#include "model/failures.h"

#include "model/dialect.h"
#include "text/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_WORDS 2000 /* characters of a message that are looked at */

/* ---- reading ---- */

/* A text, or a number as text. */
static const char *word(struct arena *arena, yyjson_val *object, const char *key)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    if (yyjson_is_int(value)) {
        return arena_printf(arena, "%lld", (long long)yyjson_get_sint(value));
    }
    if (!yyjson_is_str(value)) {
        return NULL;
    }
    const char *text = yyjson_get_str(value);
    return arena_strndup(arena, text, text_prefix(text, strlen(text), MOST_WORDS));
}

/* "34.07s" in milliseconds; negative when it is none. */
static int64_t delay_ms(const char *text)
{
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : NAN;
    bool right = end && end != text && strcmp(end, "s") == 0;
    return right && seconds >= 0 && seconds < 1e9 ? (int64_t)ceil(seconds * 1000) : -1;
}

/* What Google adds: when to come back, which quota it was, and what is wrong with a key. */
static void read_details(struct arena *arena, yyjson_val *list, struct model_error *error)
{
    size_t at, most, inner, inner_most;
    yyjson_val *detail, *violation;
    bool of_minute = false;
    yyjson_arr_foreach(list, at, most, detail)
    {
        int64_t delay = delay_ms(json_string(detail, "retryDelay"));
        error->retry_ms = delay >= 0 ? delay : error->retry_ms;
        const char *reason = json_string(detail, "reason");
        if (reason && strcmp(reason, "API_KEY_INVALID") == 0) {
            error->code = reason;
            error->code = arena_strdup(arena, reason);
        }
        yyjson_val *violations = yyjson_obj_get(detail, "violations");
        yyjson_arr_foreach(violations, inner, inner_most, violation)
        {
            const char *quota = json_string(violation, "quotaId");
            error->of_day = error->of_day || (quota && strstr(quota, "PerDay"));
            of_minute = of_minute || (quota && strstr(quota, "PerMinute"));
        }
    }
    if (of_minute && error->retry_ms < 0) {
        error->retry_ms = 60000;
    }
}

/* FastAPI's {"detail": ...}: words, or a list of what is wrong where. */
static void read_detail(struct arena *arena, yyjson_val *root, struct model_error *error)
{
    yyjson_val *first = yyjson_arr_get_first(yyjson_obj_get(root, "detail"));
    yyjson_val *place = yyjson_obj_get(first, "loc");
    error->message = word(arena, root, "detail");
    if (first) {
        error->message = word(arena, first, "msg");
        yyjson_val *last = yyjson_arr_get(place, yyjson_arr_size(place) > 1 ? 1 : 0);
        error->param = yyjson_is_str(last) ? arena_strdup(arena, yyjson_get_str(last)) : NULL;
    }
}

void error_read_value(struct arena *arena, yyjson_val *root, struct model_error *error)
{
    *error = (struct model_error){.retry_ms = -1};
    if (yyjson_is_arr(root)) { /* Gemini's, of a stream */
        root = yyjson_arr_get_first(root);
    }
    yyjson_val *inner = yyjson_obj_get(root, "error");
    if (yyjson_is_str(inner)) {
        error->message = word(arena, root, "error");
        return;
    }
    inner = yyjson_is_obj(inner) ? inner : root;
    error->code = word(arena, inner, "code");
    error->type = word(arena, inner, "type");
    error->param = word(arena, inner, "param");
    error->message = word(arena, inner, "message");
    error->generation = word(arena, inner, "failed_generation");
    if (!error->type) {
        error->type = word(arena, inner, "status"); /* Google's */
    }
    if (!error->message) {
        read_detail(arena, root, error);
    }
    read_details(arena, yyjson_obj_get(inner, "details"), error);
    const char *raw = json_string(yyjson_obj_get(inner, "metadata"), "raw");
    if (raw && error->message) { /* what OpenRouter was told by the one it asked */
        error->message = arena_printf(arena, "%s: %.*s", error->message,
                                      (int)text_prefix(raw, strlen(raw), 500), raw);
    }
    char *end = NULL;
    long number = error->code ? strtol(error->code, &end, 10) : 0;
    error->status = end && !*end && number >= 100 && number < 600 ? (int)number : 0;
}

void error_read(struct arena *arena, const char *body, size_t length, struct model_error *error)
{
    yyjson_val *root = yyjson_doc_get_root(json_parse(arena, body, length, NULL));
    error_read_value(arena, root, error);
}

/* ---- judging ---- */

static bool is(const char *text, const char *word)
{
    return text && strcasecmp(text, word) == 0;
}

static bool says(const char *text, const char *words)
{
    return text && strcasestr(text, words) != NULL;
}

static bool says_any(const struct model_error *error, const char *const *words)
{
    for (; *words; words++) {
        if (says(error->message, *words) || is(error->code, *words) || is(error->type, *words)) {
            return true;
        }
    }
    return false;
}

/* A request that is longer than the context, in the words of all services. */
static const char *const TOO_LONG[] = {
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "string_above_max_length",
    "maximum context length",
    "exceeds the context length",
    "exceeds maximum context length",
    "exceed the context length",
    "context length of",
    "available context size",
    "exceeds the context window",
    "exceed context limit",
    "context window exceeds",
    "prompt is too long",
    "input is too long",
    "exceeds the maximum number of tokens",
    "exceeds the model's maximum",
    "too many tokens in the prompt",
    NULL,
};

static const char *const NO_TOOLS[] = {
    "does not support tools",
    "does not support tool",
    "support tool use",
    "tool calling is not supported",
    "tools are not supported",
    "tools is not supported",
    "--enable-auto-tool-choice",
    "requires --jinja",
    "function calling is not enabled",
    "does not support function calling",
    NULL,
};

static const char *const USED_UP[] = {
    "insufficient_quota",   "billing_hard_limit_reached",
    "billing_error",        "insufficient balance",
    "insufficient credits", "credit balance is too low",
    "spend limit",          "spend cap",
    "quota_exceeded_daily", NULL,
};

static const char *const NO_KEY[] = {
    "API_KEY_INVALID", "invalid_api_key", "authentication_error", "API key not valid", NULL,
};

static const char *const NO_MODEL[] = {
    "model_not_found", "model_decommissioned",    "model not found",
    "no such model",   "is not a valid model id", NULL,
};

static const char *const GARBLED[] = {
    "tool_use_failed",
    "failed to parse tool call",
    "json_validate_failed",
    NULL,
};

static const char *const LOADING[] = {"loading model", "model is loading", NULL};

static const char *const OVERLOADED[] = {
    "overloaded_error",
    "api_error",
    "server_error",
    "rate_limit_exceeded",
    "rate_limit_error",
    "UNAVAILABLE",
    "RESOURCE_EXHAUSTED",
    "INTERNAL",
    "engine_overloaded",
    "timeout_error",
    NULL,
};

static bool names_missing_model(const struct model_error *error)
{
    return says_any(error, NO_MODEL) || is(error->param, "model") ||
           (says(error->message, "model") &&
            (says(error->message, "not found") || says(error->message, "does not exist")));
}

static enum failure judge_missing(const struct model_error *error, bool has_tools)
{
    if (has_tools && says_any(error, NO_TOOLS)) {
        return FAILURE_NO_TOOLS;
    }
    return names_missing_model(error) ? FAILURE_MODEL : FAILURE_ADDRESS;
}

/* HTTP 400 and its like. */
static enum failure judge_refusal(const struct model_error *error, bool has_tools)
{
    return says_any(error, TOO_LONG)                ? FAILURE_CONTEXT
           : has_tools && says_any(error, NO_TOOLS) ? FAILURE_NO_TOOLS
           : says_any(error, GARBLED)               ? FAILURE_GARBLED
           : says_any(error, USED_UP)               ? FAILURE_QUOTA
           : says_any(error, NO_KEY)                ? FAILURE_AUTH
           : says_any(error, NO_MODEL)              ? FAILURE_MODEL
                                                    : FAILURE_REFUSED;
}

static enum failure judge_limit(const struct model_error *error)
{
    return error->of_day || says_any(error, USED_UP) ? FAILURE_QUOTA : FAILURE_LIMITED;
}

static enum failure judge_status(const struct model_error *error, int status, bool has_tools)
{
    switch (status) {
    case 400:
    case 422:
        return judge_refusal(error, has_tools);
    case 401:
    case 403:
        return FAILURE_AUTH;
    case 402:
        return FAILURE_QUOTA;
    case 404:
        return judge_missing(error, has_tools);
    case 408:
    case 409:
        return FAILURE_PASSING;
    case 413:
        return FAILURE_CONTEXT;
    case 429:
        return judge_limit(error);
    case 501:
        return FAILURE_OTHER;
    default:
        /* Some say with a 500 that a request is too long, or has tools. */
        if (status >= 500) {
            return says_any(error, TOO_LONG)                ? FAILURE_CONTEXT
                   : has_tools && says_any(error, NO_TOOLS) ? FAILURE_NO_TOOLS
                   : says_any(error, LOADING)               ? FAILURE_LOADING
                                                            : FAILURE_PASSING;
        }
        return FAILURE_OTHER;
    }
}

/* An error in the midst of an answer, which has no status of its own. */
static enum failure judge_inside(const struct model_error *error, bool has_tools)
{
    enum failure failure = judge_refusal(error, has_tools);
    if (failure != FAILURE_REFUSED) {
        return failure;
    }
    if (is(error->type, "rate_limit_error") || is(error->code, "rate_limit_exceeded") ||
        is(error->type, "RESOURCE_EXHAUSTED")) {
        return judge_limit(error);
    }
    /* What began was a request that the service took: a failure now is the service's own. */
    return is(error->type, "invalid_request_error") && !says_any(error, OVERLOADED)
               ? FAILURE_OTHER
               : FAILURE_PASSING;
}

enum failure failure_judge(const struct model_error *error, int status, const char *should_retry,
                           bool has_tools)
{
    int counts = status ? status : error->status;
    enum failure failure =
        counts ? judge_status(error, counts, has_tools) : judge_inside(error, has_tools);
    bool passing =
        failure == FAILURE_PASSING || failure == FAILURE_LIMITED || failure == FAILURE_LOADING;
    if (is(should_retry, "false") && passing) {
        return failure == FAILURE_LIMITED ? FAILURE_QUOTA : FAILURE_OTHER;
    }
    return is(should_retry, "true") && (failure == FAILURE_OTHER || failure == FAILURE_REFUSED)
               ? FAILURE_PASSING
               : failure;
}

/* ---- what was refused ---- */

/* Where a word counts: only as the name of the parameter, also in the message, or there as a word
 * of its own ("restricted" does not say "strict"). */
enum word_place { NAMED, ANYWHERE, ALONE };

/* By the names of parameters, and by words of those who do not name them. The first that is in use
 * counts. */
static const struct {
    const char *words;
    unsigned choice;
    enum word_place place;
} REFUSALS[] = {
    {"/v1/responses", CHOICE_DIALECT, ANYWHERE},
    {"Responses API", CHOICE_DIALECT, ANYWHERE},
    {"stream_options", CHOICE_STREAM_USAGE, ANYWHERE},
    {"reasoning_effort", CHOICE_OWN_EFFORT, ANYWHERE},
    {"reasoning_effort", CHOICE_DIALECT, ANYWHERE},
    {"reasoning_content", CHOICE_REASONING, ANYWHERE},
    {"reasoning_details", CHOICE_REASONING, ANYWHERE},
    {"encrypted_content", CHOICE_STATELESS, ANYWHERE},
    {"reasoning", CHOICE_EFFORT, NAMED},
    {"reasoning", CHOICE_REASONING, ANYWHERE},
    {"temperature", CHOICE_TEMPERATURE, NAMED},
    {"user_location", CHOICE_PLACE, ANYWHERE},
    {"tool_choice", CHOICE_TOOL_CHOICE, ANYWHERE},
    {"tool choice", CHOICE_TOOL_CHOICE, ANYWHERE},
    {"functionCallingConfig", CHOICE_TOOL_CHOICE, ANYWHERE},
    {"function_calling_config", CHOICE_TOOL_CHOICE, ANYWHERE},
    {"strict", CHOICE_STRICT, ALONE},
    {"additionalProperties", CHOICE_STRICT, ANYWHERE},
    {"invalid schema", CHOICE_STRICT, ANYWHERE},
    {"response_format", CHOICE_SHAPE, ANYWHERE},
    {"response format", CHOICE_SHAPE, ANYWHERE},
    {"json_schema", CHOICE_SHAPE, ANYWHERE},
    {"text.format", CHOICE_SHAPE, ANYWHERE},
    {"output_config", CHOICE_SHAPE, ANYWHERE},
    {"output_format", CHOICE_SHAPE, ANYWHERE},
    {"structured output", CHOICE_SHAPE, ANYWHERE},
    {"response mime type", CHOICE_SHAPE, ANYWHERE},
    {"responseMimeType", CHOICE_SHAPE, ANYWHERE},
    {"response_schema", CHOICE_SHAPE, ANYWHERE},
    {"responseJsonSchema", CHOICE_SHAPE, ANYWHERE},
    {"response_json_schema", CHOICE_SHAPE, ANYWHERE},
    {"max_completion_tokens", CHOICE_NEW_LIMIT, ANYWHERE},
    {"max_completion_tokens", CHOICE_LIMIT, ANYWHERE},
    {"max_output_tokens", CHOICE_LIMIT, ANYWHERE},
    {"maxOutputTokens", CHOICE_LIMIT, ANYWHERE},
    {"max_tokens", CHOICE_LIMIT, ANYWHERE},
    {"store", CHOICE_STATELESS, NAMED},
    {"include", CHOICE_SOURCES, NAMED},
    {"include", CHOICE_STATELESS, NAMED},
    {"cache_control", CHOICE_CACHE, ANYWHERE},
    {"system role", CHOICE_SYSTEM, ANYWHERE},
    {"role 'system'", CHOICE_SYSTEM, ANYWHERE},
    {"system message", CHOICE_SYSTEM, ANYWHERE},
    {"stream", CHOICE_STREAM, NAMED},
    {"streaming is not", CHOICE_STREAM, ANYWHERE},
    {"streaming not", CHOICE_STREAM, ANYWHERE},
};

/* "reasoning.effort" begins with "reasoning"; "storey" does not with "store". */
static bool begins(const char *param, const char *name)
{
    size_t length = strlen(name);
    return param && strncmp(param, name, length) == 0 &&
           (!param[length] || strchr(".[", param[length]));
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool says_alone(const char *text, const char *words)
{
    size_t length = strlen(words);
    for (const char *at = text; at && (at = strcasestr(at, words)); at += length) {
        if ((at == text || !is_letter(at[-1])) && !is_letter(at[length])) {
            return true;
        }
    }
    return false;
}

unsigned failure_choice(const struct model_error *error, unsigned choices)
{
    /* DeepSeek misses the reasoning; it does not refuse it. */
    if (says(error->message, "must be passed back")) {
        choices &= ~(unsigned)CHOICE_REASONING;
    }
    for (size_t i = 0; i < sizeof REFUSALS / sizeof *REFUSALS; i++) {
        const char *words = REFUSALS[i].words;
        bool meant = begins(error->param, words) ||
                     (REFUSALS[i].place == ANYWHERE &&
                      (says(error->message, words) || says(error->param, words))) ||
                     (REFUSALS[i].place == ALONE &&
                      (says_alone(error->message, words) || says_alone(error->param, words)));
        if (meant && (choices & REFUSALS[i].choice)) {
            return REFUSALS[i].choice;
        }
    }
    return 0;
}

/* Whether the digits from `at` to `end` are a number of their own, not a part of a name
 * ("gpt-4o-2024-08-06") or of a number with commas. */
static bool is_number(const char *text, const char *at, const char *end)
{
    bool inside = at > text && (is_letter(at[-1]) || strchr("-,.", at[-1]));
    bool goes_on =
        is_letter(*end) || (*end && strchr("-,.", *end) && isdigit((unsigned char)end[1]));
    return !inside && !goes_on;
}

int64_t failure_most_tokens(const struct model_error *error, int64_t asked)
{
    bool about = says(error->param, "tokens") || says(error->message, "max_tokens") ||
                 says(error->message, "max_completion_tokens") ||
                 says(error->message, "max_output_tokens") ||
                 says(error->message, "maxOutputTokens");
    const char *at = about && error->message ? error->message : "";
    while (*at) {
        if (!isdigit((unsigned char)*at)) {
            at++;
            continue;
        }
        char *end;
        long long number = strtoll(at, &end, 10);
        bool counts = is_number(error->message, at, end);
        number -= strncmp(end, " (exclusive)", 12) == 0;
        if (counts && number >= 256 && number < asked) {
            return number;
        }
        at = end;
    }
    return 0;
}
