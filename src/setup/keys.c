/* Choosing variables. */
#include "setup/keys.h"

#include "config/variables.h"
#include "core/status.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name);
    size_t end_length = strlen(end);
    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

/* Credentials of Claude Code itself are of use only where it is the research worker. */
static bool belongs_to_claude(const char *name)
{
    return strncmp(name, "ANTHROPIC_", strlen("ANTHROPIC_")) == 0 ||
           strncmp(name, "CLAUDE_", strlen("CLAUDE_")) == 0;
}

static bool is_useful(const struct variable *variable)
{
    const char *worker = getenv("FORAGE_RESEARCH_WORKER");
    if (variable->group == GROUP_CALLERS) {
        return false; /* tokens of callers are for a server of its own */
    }
    if (belongs_to_claude(variable->name) && !(worker && strcmp(worker, "claude") == 0)) {
        return false;
    }
    return variable->secret || ends_with(variable->name, "_URL");
}

void keys_from_environment(struct keys *keys)
{
    keys->count = 0;
    for (size_t i = 0; i < VARIABLE_COUNT && keys->count < LIMIT_SETUP_KEYS; i++) {
        if (is_useful(&VARIABLES[i]) && is_set(VARIABLES[i].name)) {
            keys->names[keys->count++] = VARIABLES[i].name;
        }
    }
}

static const char *find(const char *name, size_t length, struct text_guess *guess)
{
    text_guess_start(guess, name, length);
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const char *known = VARIABLES[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            return known;
        }
        text_guess_try(guess, known, strlen(known));
    }
    return NULL;
}

static bool has(const struct keys *keys, const char *name)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (keys->names[i] == name) {
            return true;
        }
    }
    return false;
}

int keys_parse(struct keys *keys, const char *list, char *problem, size_t size)
{
    keys->count = 0;
    while (*list) {
        struct text_guess guess;
        size_t length = strcspn(list, ",");
        const char *name = length ? find(list, length, &guess) : NULL;
        if (length && (!name || keys->count == LIMIT_SETUP_KEYS)) {
            struct text_out out;
            text_start(&out, problem, size);
            text_put(&out, name ? "too many variables from " : "forage has no variable ");
            text_put_quoted(&out, list, length, 60);
            if (!name && guess.best) {
                text_putf(&out, "; did you mean %s?", guess.best);
            }
            return ERR_INVALID;
        }
        if (name && !has(keys, name)) {
            keys->names[keys->count++] = name;
        }
        list += length + (list[length] == ',');
    }
    return OK;
}
