/* The table. Words come first: they tell more than a number does. */
#include "research/failures.h"

#include "call/errors.h"

#include <stddef.h>
#include <string.h>

static const struct failure AUTH = {CODE_AUTH_ERROR, "its key or sign-in was refused"};
static const struct failure NO_AUTH = {CODE_AUTH_ERROR, "it has no key and is not signed in"};
static const struct failure QUOTA = {
    CODE_QUOTA_EXCEEDED,
    "its quota or rate limit is used up; wait and try again, use another model or another key"};
static const struct failure MODEL = {
    CODE_MODEL_NOT_FOUND, "there is no such model for this key; name another in the settings"};
static const struct failure TURNS = {
    CODE_TURN_LIMIT, "it took more turns than its settings allow (model.maxSessionTurns); narrow "
                     "the question or raise that limit"};
static const struct failure INPUT = {
    CODE_EXECUTION_ERROR, "it did not accept its prompt or its arguments; is its version "
                          "too old?"};
static const struct failure TRUST = {
    CODE_CONFIG_ERROR, "it does not trust its folder; forage sets GEMINI_CLI_TRUST_WORKSPACE, so "
                       "is its version too old, or does an administrator's policy forbid it?"};
static const struct failure SETTINGS = {
    CODE_CONFIG_ERROR, "its settings are wrong; mend the files in its configuration folder, or "
                       "delete them: they are made anew"};
static const struct failure NOT_RUNNABLE = {
    CODE_CLI_NOT_FOUND, "it could not be run; is Node.js installed and on PATH?"};
static const struct failure UPSTREAM = {CODE_EXECUTION_ERROR,
                                        "the service behind it failed; try again later"};
static const struct failure CRASH = {CODE_EXECUTION_ERROR,
                                     "it ended with an error; try again, or run it by hand in its "
                                     "folder to see why"};

/* What workers and the services behind them say, in any case of letters. */
static const struct {
    const char *words;
    const struct failure *failure;
} BY_WORDS[] = {
    {"API key not valid", &AUTH},
    {"API_KEY_INVALID", &AUTH},
    {"API key expired", &AUTH},
    {"invalid x-api-key", &AUTH},
    {"Invalid API key", &AUTH},
    {"UNAUTHENTICATED", &AUTH},
    {"PERMISSION_DENIED", &AUTH},
    {"authentication_error", &AUTH},
    {"Please set an Auth method", &NO_AUTH},
    {"Please run /login", &NO_AUTH},
    {"must specify the GEMINI_API_KEY", &NO_AUTH},
    {"RESOURCE_EXHAUSTED", &QUOTA},
    {"rate_limit_error", &QUOTA},
    {"exceeded your current quota", &QUOTA},
    {"quota exceeded", &QUOTA},
    {"exhausted your capacity", &QUOTA},
    {"credit balance is too low", &QUOTA},
    {"usage limit reached", &QUOTA},
    {"ModelNotFound", &MODEL},
    {"is not found for API version", &MODEL},
    {"not_found_error", &MODEL},
    {"issue with the selected model", &MODEL},
    {"max session turns", &TURNS},
    {"error_max_turns", &TURNS},
    {"not running in a trusted directory", &TRUST},
    {"folder is not trusted", &TRUST},
    {"Invalid configuration in", &SETTINGS},
    {"Error in: ", &SETTINGS},
    {"Failed to parse settings", &SETTINGS},
    {"MCP config", &SETTINGS},
};

/* Exit codes. Those of the Gemini CLI above 128 are an HTTP status, of which the system keeps the
 * last eight bits. */
static const struct {
    const char *worker; /* NULL: any */
    int code;
    const struct failure *failure;
} BY_EXIT[] = {
    {"gemini", 41, &NO_AUTH},
    {"gemini", 42, &INPUT},
    {"gemini", 52, &SETTINGS},
    {"gemini", 53, &TURNS},
    {"gemini", 55, &TRUST},
    {"gemini", 400 % 256, &AUTH}, /* 144: what the API says to a key that is none */
    {"gemini", 401 % 256, &AUTH},
    {"gemini", 403 % 256, &AUTH},
    {"gemini", 404 % 256, &MODEL},
    {"gemini", 429 % 256, &QUOTA}, /* 173 */
    {"gemini", 500 % 256, &UPSTREAM},
    {"gemini", 502 % 256, &UPSTREAM},
    {"gemini", 503 % 256, &UPSTREAM},
    {"gemini", 504 % 256, &UPSTREAM},
    {NULL, 126, &NOT_RUNNABLE},
    {NULL, 127, &NOT_RUNNABLE},
};

const struct failure *failure_of_words(const char *words)
{
    for (size_t i = 0; words && i < sizeof BY_WORDS / sizeof *BY_WORDS; i++) {
        if (strcasestr(words, BY_WORDS[i].words)) {
            return BY_WORDS[i].failure;
        }
    }
    return NULL;
}

const struct failure *failure_find(const struct worker *worker, const struct proc_exit *exit,
                                   const char *words, const char *errors)
{
    const struct failure *failure = failure_of_words(words);
    for (size_t i = 0; !failure && i < sizeof BY_EXIT / sizeof *BY_EXIT; i++) {
        if (BY_EXIT[i].code == exit->code &&
            (!BY_EXIT[i].worker || strcmp(BY_EXIT[i].worker, worker->name) == 0)) {
            failure = BY_EXIT[i].failure;
        }
    }
    if (!failure) {
        failure = failure_of_words(errors);
    }
    return failure ? failure : &CRASH;
}
