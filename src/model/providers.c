/* The table of providers, and which model a setting means. */
#include "config/config.h"
#include "model/dialect.h"
#include "text/url.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* What OpenAI's own interface has, and others took over only in part. */
#define OLD_CHAT                                                                                   \
    (CHOICE_ALL & ~(CHOICE_NEW_LIMIT | CHOICE_STATELESS | CHOICE_CACHE | CHOICE_STRICT))

#define OWN_KEY "FORAGE_MODEL_KEY"

#define SILENT                                                                                     \
    "it drops the beginning of what is longer than its context without a word: give it 64,000 "    \
    "tokens or more, and say so in FORAGE_MODEL_CONTEXT"

static const struct model_provider PROVIDERS[] = {
    {.name = "openai",
     .title = "OpenAI",
     .dialect = &DIALECT_RESPONSES,
     .second = &DIALECT_CHAT,
     .address = "https://api.openai.com",
     .prefix = "/v1",
     .address_variable = "OPENAI_BASE_URL",
     .key_variables = {"OPENAI_API_KEY"},
     .usual_model = "openai:gpt-5-nano",
     .needs_key = true,
     .priced_by_name = true,
     .choices = CHOICE_ALL},
    {.name = "openai-chat",
     .title = "OpenAI",
     .dialect = &DIALECT_CHAT,
     .second = &DIALECT_RESPONSES,
     .address = "https://api.openai.com",
     .prefix = "/v1",
     .address_variable = "OPENAI_BASE_URL",
     .key_variables = {"OPENAI_API_KEY"},
     .needs_key = true,
     .priced_by_name = true,
     .choices = CHOICE_ALL},
    {.name = "anthropic",
     .title = "Anthropic",
     .dialect = &DIALECT_MESSAGES,
     .address = "https://api.anthropic.com",
     .prefix = "/v1",
     .always_prefixed = true,
     .address_variable = "ANTHROPIC_BASE_URL",
     .key_variables = {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"},
     .usual_model = "anthropic:claude-haiku-4-5",
     .needs_key = true,
     .priced_by_name = true,
     .choices = CHOICE_ALL},
    {.name = "gemini",
     .title = "Gemini",
     .dialect = &DIALECT_GEMINI,
     .address = "https://generativelanguage.googleapis.com",
     .prefix = "/v1beta",
     .always_prefixed = true,
     .address_variable = "GOOGLE_GEMINI_BASE_URL",
     .key_variables = {"GOOGLE_API_KEY", "GEMINI_API_KEY"},
     .usual_model = "gemini:gemini-2.5-flash",
     .needs_key = true,
     .priced_by_name = true,
     .choices = CHOICE_ALL},
    {.name = "ollama",
     .title = "Ollama",
     .dialect = &DIALECT_CHAT,
     .address = "http://127.0.0.1:11434",
     .prefix = "/v1",
     .address_variable = "OLLAMA_HOST",
     .shows_thinking = true,
     .choices = OLD_CHAT & ~CHOICE_TOOL_CHOICE,
     .caution = SILENT},
    {.name = "llamacpp",
     .title = "llama.cpp",
     .dialect = &DIALECT_CHAT,
     .address = "http://127.0.0.1:8080",
     .prefix = "/v1",
     .shows_thinking = true,
     .choices = OLD_CHAT,
     .caution = "its server needs --jinja for tools"},
    {.name = "vllm",
     .title = "vLLM",
     .dialect = &DIALECT_CHAT,
     .address = "http://127.0.0.1:8000",
     .prefix = "/v1",
     .shows_thinking = true,
     .choices = OLD_CHAT,
     .caution = "its server needs --enable-auto-tool-choice and --tool-call-parser for tools"},
    {.name = "lmstudio",
     .title = "LM Studio",
     .dialect = &DIALECT_CHAT,
     .address = "http://127.0.0.1:1234",
     .prefix = "/v1",
     .shows_thinking = true,
     .choices = OLD_CHAT,
     .caution = SILENT},
    {.name = "openrouter",
     .title = "OpenRouter",
     .dialect = &DIALECT_CHAT,
     .address = "https://openrouter.ai",
     .prefix = "/api/v1",
     .key_variables = {"OPENROUTER_API_KEY"},
     .needs_key = true,
     .shows_thinking = true,
     .choices = OLD_CHAT},
    {.name = "groq",
     .title = "Groq",
     .dialect = &DIALECT_CHAT,
     .address = "https://api.groq.com",
     .prefix = "/openai/v1",
     .always_prefixed = true,
     .address_variable = "GROQ_BASE_URL",
     .key_variables = {"GROQ_API_KEY"},
     .needs_key = true,
     .shows_thinking = true,
     .choices = OLD_CHAT | CHOICE_NEW_LIMIT},
    {.name = "deepseek",
     .title = "DeepSeek",
     .dialect = &DIALECT_CHAT,
     .address = "https://api.deepseek.com",
     .prefix = "/v1",
     .key_variables = {"DEEPSEEK_API_KEY"},
     .needs_key = true,
     .priced_by_name = true,
     .choices = OLD_CHAT,
     .wants_reasoning = true},
    {.name = "mistral",
     .title = "Mistral",
     .dialect = &DIALECT_CHAT,
     .address = "https://api.mistral.ai",
     .prefix = "/v1",
     .key_variables = {"MISTRAL_API_KEY"},
     .needs_key = true,
     .priced_by_name = true,
     /* It sends usage unasked, and refuses what it does not know. */
     .choices = OLD_CHAT & ~(CHOICE_STREAM_USAGE | CHOICE_REASONING),
     .says_any = true},
    {.name = "compatible",
     .title = "The model's server",
     .dialect = &DIALECT_CHAT,
     .prefix = "/v1",
     .shows_thinking = true,
     .choices = OLD_CHAT},
};

/* With its own search, which needs no name in front of a model's. */
static const struct model_provider OPENAI_SEARCH = {
    .name = "openai",
    .title = "OpenAI",
    .dialect = &DIALECT_RESPONSES,
    .address = "https://api.openai.com",
    .prefix = "/v1",
    .address_variable = "OPENAI_BASE_URL",
    .key_variables = {"OPENAI_API_KEY"},
    .priced_by_name = true,
    .choices = CHOICE_SEARCH,
    .search_service = "openai_web_search",
};

static const struct model_provider *find_provider(const char *text)
{
    for (size_t i = 0; i < sizeof PROVIDERS / sizeof *PROVIDERS; i++) {
        size_t length = strlen(PROVIDERS[i].name);
        if (strncmp(text, PROVIDERS[i].name, length) == 0 && text[length] == ':' &&
            text[length + 1]) {
            return &PROVIDERS[i];
        }
    }
    return NULL;
}

bool model_names_provider(const char *text)
{
    return find_provider(text) != NULL;
}

static int put_unknown(const char *text, char *problem, size_t size)
{
    int length =
        snprintf(problem, size, "\"%.100s\" names no provider; write provider:name, with ", text);
    for (size_t i = 0; i < sizeof PROVIDERS / sizeof *PROVIDERS; i++) {
        bool last = i + 1 == sizeof PROVIDERS / sizeof *PROVIDERS;
        if (length >= 0 && (size_t)length < size) {
            length += snprintf(problem + length, size - (size_t)length, "%s%s", PROVIDERS[i].name,
                               last                                            ? ""
                               : i + 2 == sizeof PROVIDERS / sizeof *PROVIDERS ? " or "
                                                                               : ", ");
        }
    }
    return ERR_INVALID;
}

static const char *set_text(const char *variable)
{
    const char *text = variable ? config_text(variable) : NULL;
    return text && *text ? text : NULL;
}

/* ---- the address ---- */

/* OLLAMA_HOST as a URL. A host alone is on Ollama's port, one behind a scheme on that of the
 * scheme; the address that a server listens on, 0.0.0.0, is none to ask. */
static const char *ollama_url(struct arena *arena, const char *host)
{
    const char *scheme = strstr(host, "://");
    const char *rest = scheme ? scheme + 3 : host;
    const char *tail = rest + strcspn(rest, "/");
    const char *bracket = *rest == '[' ? memchr(rest, ']', (size_t)(tail - rest)) : NULL;
    const char *from = bracket ? bracket : rest;
    const char *colon = memchr(from, ':', (size_t)(tail - from));
    bool bare_ipv6 = !bracket && colon && memchr(colon + 1, ':', (size_t)(tail - colon - 1));
    colon = bare_ipv6 ? NULL : colon;
    const char *end = colon ? colon : tail;
    const char *name = arena_strndup(arena, rest, (size_t)(end - rest));
    if (!name) {
        return NULL;
    }
    if (!*name || strcmp(name, "0.0.0.0") == 0) {
        name = "127.0.0.1";
    } else if (strcmp(name, "[::]") == 0 || strcmp(name, "::") == 0) {
        name = "[::1]";
    } else if (bare_ipv6) {
        name = arena_printf(arena, "[%s]", name);
    }
    const char *port = colon    ? arena_strndup(arena, colon, (size_t)(tail - colon))
                       : scheme ? ""
                                : ":11434";
    return arena_printf(arena, "%.*s://%s%s%s", scheme ? (int)(scheme - host) : 4,
                        scheme ? host : "http", name ? name : "", port ? port : "", tail);
}

/* Whether a path ends in a version: "/v1", "/v1beta". */
static bool ends_in_version(const char *address)
{
    const char *last = strrchr(address, '/');
    return last && last[1] == 'v' && isdigit((unsigned char)last[2]);
}

/* Whether FORAGE_MODEL_URL and FORAGE_MODEL_KEY are about this provider. They belong to the one of
 * FORAGE_MODEL: the key of another service must not go to the server that they name. */
static bool is_usual(const struct model_provider *provider)
{
    const char *usual = set_text("FORAGE_MODEL");
    return (!usual || find_provider(usual) == provider) && provider != &OPENAI_SEARCH;
}

/* Puts the address of the interface into the model. */
static int find_address(struct arena *arena, struct model *model, char *problem, size_t size)
{
    const struct model_provider *provider = model->provider;
    const char *variable = "FORAGE_MODEL_URL";
    bool usual = is_usual(provider);
    const char *text = usual ? set_text(variable) : NULL;
    if (!text && provider->address_variable && config_is_set(provider->address_variable)) {
        variable = provider->address_variable;
        text = set_text(variable);
        if (text && strcmp(variable, "OLLAMA_HOST") == 0) {
            text = ollama_url(arena, text);
        }
    }
    bool prefixed = provider->always_prefixed || (text && strcmp(variable, "OLLAMA_HOST") == 0);
    model->at_home = !text;
    model->address_variable = text ? variable : NULL;
    text = text ? text : provider->address;
    struct url url;
    const char *wrong = "is not set";
    if (!text) {
        snprintf(problem, size, "%s needs FORAGE_MODEL_URL, the address of its server%s",
                 provider->name,
                 usual ? "" : ", which counts for the provider of FORAGE_MODEL alone");
        return ERR_INVALID;
    }
    int status = url_parse(arena, text, &url, &wrong);
    if (status != OK) {
        snprintf(problem, size, "%s: the URL %s", variable, wrong);
        return status == ERR_NOMEM ? ERR_NOMEM : ERR_INVALID;
    }
    size_t length = strcspn(url.text, "?#");
    while (length && url.text[length - 1] == '/') {
        length--;
    }
    const char *address = arena_strndup(arena, url.text, length);
    bool bare = strcmp(url.path, "/") == 0;
    if (address && (bare || (prefixed && !ends_in_version(address)))) {
        address = arena_printf(arena, "%s%s", address, provider->prefix);
    }
    model->address = address;
    return address ? OK : ERR_NOMEM;
}

/* ---- the key ---- */

static int find_key(struct model *model, char *problem, size_t size)
{
    const struct model_provider *provider = model->provider;
    const char *const *variables = provider->key_variables;
    model->key_variable = OWN_KEY;
    model->key = is_usual(provider) ? set_text(OWN_KEY) : NULL;
    for (size_t i = 0; !model->key && variables[i]; i++) {
        model->key_variable = variables[i];
        model->key = set_text(variables[i]);
    }
    if (!model->key) {
        model->key_variable = NULL;
        if (provider->needs_key && model->at_home) {
            snprintf(problem, size, "%s needs a key: set %s", provider->title, variables[0]);
            return ERR_INVALID;
        }
        return OK;
    }
    model->bearer = strcmp(model->key_variable, "ANTHROPIC_AUTH_TOKEN") == 0;
    return OK;
}

/* ---- choosing ---- */

static int make_model(struct arena *arena, const struct model_provider *provider, const char *name,
                      struct model **model, char *problem, size_t size)
{
    struct model *made = arena_zalloc(arena, sizeof *made);
    if (!made) {
        return ERR_NOMEM;
    }
    made->provider = provider;
    made->name = arena_strdup(arena, name);
    made->label = arena_printf(arena, "%s:%s", provider->name, name);
    atomic_init(&made->refused, 0);
    atomic_init(&made->most_tokens, 0);
    int status = find_address(arena, made, problem, size);
    status = status == OK ? find_key(made, problem, size) : status;
    *model = made;
    return status == OK && arena_failed(arena) ? ERR_NOMEM : status;
}

int model_choose_searching(struct arena *arena, const char *name, struct model **model,
                           char *problem, size_t size)
{
    return make_model(arena, &OPENAI_SEARCH, name, model, problem, size);
}

int model_choose(struct arena *arena, const char *text, struct model **model, char *problem,
                 size_t size)
{
    const char *usual = set_text("FORAGE_MODEL");
    text = text && *text ? text : usual;
    snprintf(problem, size, "no model is set up: set FORAGE_MODEL to provider:name");
    if (!text) {
        return ERR_NOTFOUND;
    }
    const struct model_provider *provider = find_provider(text);
    const char *name = provider ? text + strlen(provider->name) + 1 : text;
    if (!provider && usual) {
        provider = find_provider(usual);
    }
    if (!provider) {
        return put_unknown(text, problem, size);
    }
    return make_model(arena, provider, name, model, problem, size);
}

const char *model_of_keys(void)
{
    for (size_t i = 0; i < sizeof PROVIDERS / sizeof *PROVIDERS; i++) {
        const char *const *variables = PROVIDERS[i].key_variables;
        for (size_t j = 0; PROVIDERS[i].usual_model && variables[j]; j++) {
            if (set_text(variables[j])) {
                return PROVIDERS[i].usual_model;
            }
        }
    }
    return NULL;
}

const char *model_priced_as(const struct model *model)
{
    const char *slash = strrchr(model->name, '/'); /* Gemini's "models/NAME" */
    const char *name = slash && slash[1] ? slash + 1 : model->name;
    return model->provider->priced_by_name ? name : model->label;
}

const char *model_label(const struct model *model)
{
    return model->label;
}

const char *model_address(const struct model *model)
{
    return model->address;
}

const char *model_key_variable(const struct model *model)
{
    return model->key_variable;
}

const char *model_caution(const struct model *model)
{
    bool known = config_is_set("FORAGE_MODEL_CONTEXT");
    const char *caution = model->provider->caution;
    return caution && known && strstr(caution, "FORAGE_MODEL_CONTEXT") ? NULL : caution;
}

int64_t model_context(void)
{
    return config_int("FORAGE_MODEL_CONTEXT");
}

const struct dialect *model_dialect(const struct model *model, unsigned choices)
{
    const struct model_provider *provider = model->provider;
    return provider->second && !(choices & CHOICE_DIALECT) ? provider->second : provider->dialect;
}
