/* The variables of forage. Each is declared once, in data/variables.txt; the build makes this table
 * from it, and the documentation, .env.example and `forage config` come from the table. */
#ifndef FORAGE_CONFIG_VARIABLES_H
#define FORAGE_CONFIG_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum variable_kind {
    VARIABLE_TEXT,
    VARIABLE_INTEGER,  /* between `least` and `most` */
    VARIABLE_BOOLEAN,  /* 1/0, true/false, yes/no, on/off */
    VARIABLE_DURATION, /* 250ms, 30s, 5m, 2h; `least` and `most` in milliseconds */
    VARIABLE_SIZE,     /* 500KB, 100MB, 2GiB; `least` and `most` in bytes */
    VARIABLE_LIST,     /* separated by commas */
    VARIABLE_CHOICE,   /* one of `words` */
    VARIABLE_PATH,     /* ~/ at its beginning is the home folder */
};

enum variable_group {
    GROUP_SERVING,
    GROUP_CALLERS,
    GROUP_TOOLS,
    GROUP_CALLS,
    GROUP_RECORDS,
    GROUP_MEMORY,
    GROUP_SEARCH,
    GROUP_PAGES,
    GROUP_BROWSER,
    GROUP_RESEARCH,
    GROUP_MODELS,
    GROUP_ANSWERS,
    GROUP_LOGGING,
    GROUP_FILE,
    GROUP_COUNT,
};

struct variable_group_words {
    const char *title;
    const char *about;
};

struct variable {
    const char *name;
    const char *also; /* a second name, from a server that forage stands in for; or NULL */
    enum variable_group group;
    enum variable_kind kind;
    bool secret; /* never shown; for a list, each item or what follows its first colon */
    bool unsent; /* of a secret: nobody outside is ever told it */
    bool shared; /* other programs use the name too (`also`, where there is one): a value that does
                    not fit is ignored, with a warning */
    int64_t unit_ms; /* what a plain number counts, for durations */
    int64_t least, most;
    const char *const *words; /* of a choice; NULL ends them */
    const char *preset;       /* the default, as it would be written; NULL: not set */
    const char *help;         /* one line */
    const char *more;         /* or NULL */
    const char *example;      /* or NULL */
    const char *upstream;     /* the service whose address this is, for FORAGE_UPSTREAMS; or NULL */
};

/* By group, in the order in which they are shown. The addresses of data/upstreams.txt come behind
 * them; they are set as others are, and documented together. */
extern const struct variable VARIABLES[];
extern const size_t VARIABLE_COUNT;
extern const size_t VARIABLES_AND_UPSTREAMS;
extern const struct variable_group_words VARIABLE_GROUPS[GROUP_COUNT];

/* Every name under which one may be set, in the order of strcmp(). */
struct variable_name {
    unsigned short variable; /* of VARIABLES */
    bool also;               /* the second name */
};

extern const struct variable_name VARIABLE_NAMES[];
extern const size_t VARIABLE_NAME_COUNT;

#endif
