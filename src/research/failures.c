/* The table of failures. A worker's words come first: they say more than its exit code does. */
#include "research/steps.h"

#include "call/errors.h"

#include <stddef.h>
#include <string.h>

static const struct research_failure AUTH = {CODE_AUTH_ERROR, "its key or sign-in was refused"};
static const struct research_failure NO_AUTH = {CODE_AUTH_ERROR,
                                                "it has no key and is not signed in"};
static const struct research_failure NO_WAY_IN = {
    CODE_CONFIG_ERROR,
    "it says \"Invalid auth method selected.\": with GOOGLE_GEMINI_BASE_URL some "
    "versions take no key; unset that variable, or let forage ask that address: "
    "set FORAGE_MODEL=gemini:gemini-2.5-flash"};
static const struct research_failure QUOTA = {
    CODE_QUOTA_EXCEEDED,
    "its quota or rate limit is used up; wait and try again, use another model or another key"};
static const struct research_failure MODEL = {
    CODE_MODEL_NOT_FOUND, "there is no such model for this key; name another in the settings"};
static const struct research_failure TURNS = {
    CODE_TURN_LIMIT, "it took more turns than its settings allow (model.maxSessionTurns); narrow "
                     "the question or raise that limit"};
static const struct research_failure INPUT = {
    CODE_EXECUTION_ERROR, "it did not accept its prompt or its arguments; is its version "
                          "too old?"};
static const struct research_failure TRUST = {
    CODE_CONFIG_ERROR, "it does not trust its folder; forage sets GEMINI_CLI_TRUST_WORKSPACE, so "
                       "is its version too old, or does an administrator's policy forbid it?"};
static const struct research_failure SETTINGS = {
    CODE_CONFIG_ERROR, "its settings are wrong; mend the files in its configuration folder, or "
                       "delete them: they are made anew"};
static const struct research_failure NOT_RUNNABLE = {
    CODE_CLI_NOT_FOUND, "it could not be run; is Node.js installed and on PATH?"};
static const struct research_failure UPSTREAM = {CODE_EXECUTION_ERROR,
                                                 "the service behind it failed; try again later"};
static const struct research_failure REQUEST = {
    CODE_EXECUTION_ERROR,
    "the service behind it did not accept the request; is the model the right "
    "one for this?"};
static const struct research_failure CRASH = {
    CODE_EXECUTION_ERROR, "it ended with an error; try again, or run it by hand in its "
                          "folder to see why"};

/* What workers and the services behind them say, in any case of letters. */
static const struct {
    const char *words;
    const struct research_failure *failure;
} BY_WORDS[] = {
    /* A wrong key is an invalid argument too, so it comes first. */
    {"API key not valid", &AUTH},
    {"API_KEY_INVALID", &AUTH},
    {"API key expired", &AUTH},
    {"invalid x-api-key", &AUTH},
    {"Invalid API key", &AUTH},
    {"UNAUTHENTICATED", &AUTH},
    {"PERMISSION_DENIED", &AUTH},
    {"authentication_error", &AUTH},
    {"Invalid auth method selected", &NO_WAY_IN},
    {"Please set an Auth method", &NO_AUTH},
    {"Please run /login", &NO_AUTH},
    {"must specify the GEMINI_API_KEY", &NO_AUTH},
    {"RESOURCE_EXHAUSTED", &QUOTA},
    {"rate_limit_error", &QUOTA},
    {"exceeded your current quota", &QUOTA},
    {"exhausted your daily quota", &QUOTA},
    {"quota exceeded", &QUOTA},
    {"exhausted your capacity", &QUOTA},
    {"credit balance is too low", &QUOTA},
    {"usage limit reached", &QUOTA},
    {"ModelNotFound", &MODEL},
    {"is not found for API version", &MODEL},
    {"NOT_FOUND", &MODEL},
    {"issue with the selected model", &MODEL},
    {"INVALID_ARGUMENT", &REQUEST},
    {"invalid_request_error", &REQUEST},
    {"max session turns", &TURNS},
    {"error_max_turns", &TURNS},
    {"not running in a trusted directory", &TRUST},
    {"folder is not trusted", &TRUST},
    {"Invalid configuration in", &SETTINGS},
    {"Error in: ", &SETTINGS},
    {"Failed to parse settings", &SETTINGS},
    {"MCP config", &SETTINGS},
};

/* Statuses of the services behind workers, and exit codes. The Gemini CLI exits with the status, of
 * which the system keeps the last eight bits. */
static const struct {
    int http_status;    /* 0: none */
    const char *worker; /* whose exit code it is; NULL: any */
    int exit_code;      /* 0: none */
    const struct research_failure *failure;
} BY_NUMBER[] = {
    {0, "gemini", 41, &NO_AUTH},
    {0, "gemini", 42, &INPUT},
    {0, "gemini", 52, &SETTINGS},
    {0, "gemini", 53, &TURNS},
    {0, "gemini", 55, &TRUST},
    {0, "gemini", 144, &AUTH}, /* 400: what the API says to a key that is none */
    {400, NULL, 0, &REQUEST},
    {401, "gemini", 145, &AUTH},
    {403, "gemini", 147, &AUTH},
    {404, "gemini", 148, &MODEL},
    {429, "gemini", 173, &QUOTA},
    {500, "gemini", 244, &UPSTREAM},
    {502, "gemini", 246, &UPSTREAM},
    {503, "gemini", 247, &UPSTREAM},
    {504, "gemini", 248, &UPSTREAM},
    {529, NULL, 0, &UPSTREAM},
    {0, NULL, 126, &NOT_RUNNABLE},
    {0, NULL, 127, &NOT_RUNNABLE},
};

const struct research_failure *failure_of_words(const char *words)
{
    for (size_t i = 0; words && i < sizeof BY_WORDS / sizeof *BY_WORDS; i++) {
        if (strcasestr(words, BY_WORDS[i].words)) {
            return BY_WORDS[i].failure;
        }
    }
    return NULL;
}

static const struct research_failure *failure_of_numbers(const struct worker *worker,
                                                         int http_status, int exit_code)
{
    for (size_t i = 0; i < sizeof BY_NUMBER / sizeof *BY_NUMBER; i++) {
        bool is_status = http_status && BY_NUMBER[i].http_status == http_status;
        bool is_exit = exit_code && BY_NUMBER[i].exit_code == exit_code &&
                       (!BY_NUMBER[i].worker || strcmp(BY_NUMBER[i].worker, worker->name) == 0);
        if (is_status || is_exit) {
            return BY_NUMBER[i].failure;
        }
    }
    return NULL;
}

const struct research_failure *failure_find(const struct worker *worker,
                                            const struct failure_signs *signs)
{
    const struct research_failure *failure = failure_of_words(signs->words);
    if (!failure) {
        failure = failure_of_numbers(worker, signs->http_status, signs->exit_code);
    }
    if (!failure || failure == &NO_AUTH) { /* its code for many reasons, of which it writes one */
        const struct research_failure *told = failure_of_words(signs->errors);
        failure = told ? told : failure;
    }
    return failure ? failure : &CRASH;
}
