/* What the dialects of models have in common: what is sent, in which ways a request can do without
 * some of it, and how what comes is put together. A dialect is a table of pure functions; providers
 * (providers.c) say which of them a server speaks. */
#ifndef FORAGE_MODEL_DIALECT_H
#define FORAGE_MODEL_DIALECT_H

#include "core/limits.h"
#include "model/draft.h"
#include "model/model.h"
#include "text/json.h"

#include <stdatomic.h>

/* What a request does as we like it, and can do otherwise: a server that refuses one is asked
 * without it from then on. */
enum choice {
    CHOICE_STREAM = 1u << 0,
    CHOICE_STREAM_USAGE = 1u << 1, /* stream_options */
    CHOICE_TOOLS = 1u << 2,        /* without them the request is not made */
    CHOICE_TOOL_CHOICE = 1u << 3,
    CHOICE_SHAPE = 1u << 4,
    CHOICE_STRICT = 1u << 5,     /* of the shape */
    CHOICE_NEW_LIMIT = 1u << 6,  /* max_completion_tokens; otherwise max_tokens */
    CHOICE_LIMIT = 1u << 7,      /* one of them at all */
    CHOICE_REASONING = 1u << 8,  /* that of earlier turns is sent back */
    CHOICE_OWN_EFFORT = 1u << 9, /* the model's own; otherwise reasoning_effort is "none" */
    CHOICE_STATELESS = 1u << 10, /* store: false, and its reasoning comes sealed */
    CHOICE_CACHE = 1u << 11,     /* cache_control */
    CHOICE_SYSTEM = 1u << 12,  /* a role of its own; otherwise before the first words of the user */
    CHOICE_DIALECT = 1u << 13, /* the provider's first one; otherwise its second */
    CHOICE_ALL = (1u << 14) - 1,
    /* Of requests with a search */
    CHOICE_TEMPERATURE = 1u << 14,
    CHOICE_EFFORT = 1u << 15,  /* little reasoning; otherwise the model's own */
    CHOICE_SOURCES = 1u << 16, /* the searches say what they found */
    CHOICE_PLACE = 1u << 17,   /* user_location */
    CHOICE_SEARCH = CHOICE_TOOL_CHOICE | CHOICE_LIMIT | CHOICE_STATELESS | CHOICE_TEMPERATURE |
                    CHOICE_EFFORT | CHOICE_SOURCES | CHOICE_PLACE,
};

struct dialect {
    const char *name;
    /* Where it is asked, below the address; in the arena or constant. NULL without memory. */
    const char *(*path)(struct arena *arena, const struct model *model, unsigned choices);
    void (*write)(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct model *model,
                  const struct model_request *request, unsigned choices, int64_t max_tokens);
    /* One event of a stream, or all of an answer that is no stream: both have the same names. */
    void (*take)(struct draft *draft, yyjson_val *root);
    /* The turn as it is sent back; NULL without memory. */
    const char *(*echo)(struct draft *draft, const struct model_reply *reply);
    /* How the key travels: the name of a header, NULL for a bearer. */
    const char *key_header;
    /* A further header that every request has; NULL: none. */
    const char *further_header, *further_value;
};

extern const struct dialect DIALECT_CHAT, DIALECT_RESPONSES, DIALECT_MESSAGES, DIALECT_GEMINI;

struct model_provider {
    const char *name, *title;
    const struct dialect *dialect;
    const struct dialect *second; /* where the first is not spoken; NULL: there is none */
    const char *address;          /* NULL: FORAGE_MODEL_URL has to say it */
    const char *prefix;           /* below the address */
    bool always_prefixed;         /* also below an address that has a path, unless it ends so */
    const char *address_variable; /* or NULL */
    const char *key_variables[3]; /* the first that is set counts; NULL ends them */
    const char
        *usual_model;     /* of those that have a key, where nobody names one: its label, or NULL */
    bool needs_key;       /* at its own address */
    bool priced_by_name;  /* the price table has its models by their names alone, without ours */
    unsigned choices;     /* what it is known to take */
    bool says_any;        /* "any" is how tool_choice insists */
    bool shows_thinking;  /* a server that leaves a model's thinking in its text */
    bool wants_reasoning; /* of turns with uses, also where there was none */
    const char *caution;
    const char *search_service; /* that its own search is paid as, by the request; NULL: it has
                                   none, or is asked without it */
};

struct model {
    const struct model_provider *provider;
    const char *name, *label;
    const char *address;          /* with its prefix, without a slash at its end */
    const char *address_variable; /* where that came from; NULL: it is the provider's own */
    const char *key, *key_variable;
    bool bearer;              /* the key is one, whatever the dialect has */
    bool at_home;             /* at the provider's own address */
    atomic_uint refused;      /* choices */
    atomic_llong most_tokens; /* of a reply; 0: not known */
};

/* The dialect in force. */
const struct dialect *model_dialect(const struct model *model, unsigned choices);

/* ---- for those who write requests ---- */

/* The text of a tool's result, an error said to be one. */
const char *result_text(struct arena *arena, const struct model_message *message);
/* JSON text as a value of a document. */
yyjson_mut_val *raw_json(yyjson_mut_doc *doc, const char *text);
/* The arguments of a use as an object that can be sent back, whatever came. */
const char *use_object(struct arena *arena, const struct model_use *use);
/* The arena of a document that is being written. */
struct arena *writing_arena(const yyjson_mut_doc *doc);

#endif
