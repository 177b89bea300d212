/* Memory: what agents want to keep. This header is the whole engine for those who use it (the
 * tools, REST, the command line): memories are added, changed, found and removed here, whatever
 * database holds them.
 *
 * A memory lives in a namespace, and a namespace belongs to an owner: the caller, or everybody
 * where the operator shares it (FORAGE_SHARED_NAMESPACES). No function here reaches past the space
 * that it is given. What a function returned OK for is on the disk; a change is there wholly or not
 * at all.
 *
 * Behind it: memories.h (connections and changes), store.h (the tables and their statements),
 * rules.h (what a change makes of what is there), index.h (the words).
 * Texts given must be valid UTF-8; texts returned live in the call's arena. */
#ifndef FORAGE_MEMORY_MEMORY_H
#define FORAGE_MEMORY_MEMORY_H

#include "call/call.h"
#include "config/places.h"
#include "core/limits.h"
#include "core/stock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memories of one program: its connections to the database, its writer and its indexes. It
 * reaches nothing before a call needs it; calls find it in their parts. */
/* `places` must outlive it; `stocks` as of stock_new() (core/stock.h). */
struct memories *memories_new(const struct places *places, struct stocks *stocks);
/* From now on it makes large indexes in the background, and vectors where there is a model: for a
 * program that stays. `parts` are those that it is one of. OK or ERR_NOMEM. */
MUST_CHECK int memories_serve(struct memories *memories, const struct parts *parts);
/* When no call has come for a while: gives back what makes searches fast, and closes connections to
 * a file that many calls at once have left behind. */
void memories_rest(struct memories *memories);
/* Closes everything; no call may use it any more. */
struct memories *memories_free(struct memories *memories);

/* A namespace of one owner. */
struct memory_space {
    const char *owner; /* the caller's name, or "" for a shared namespace */
    const char *name;  /* "default" where none was given */
};

/* Times are milliseconds since 1970, UTC. */
struct memory {
    const char *key;
    const char *summary;
    const char *text;
    const char *const *tags; /* tag_count of them, without repetition, in their given order */
    size_t tag_count;
    const char *metadata; /* a JSON object as text, or NULL */
    const char *session;  /* a conversation that it is part of, or NULL */
    int64_t place;        /* in the session, from 0; -1: without a session */
    const char *role;     /* who said it ("user", "assistant"), or NULL */
    int64_t created_ms;
    int64_t updated_ms;
    int64_t expires_ms; /* 0: never */
    int64_t version;    /* 1, 2, ...: for changes that must not undo another's */
    /* What is wrong with it as it was read, NULL: nothing. It is damaged until it is overwritten or
     * deleted. */
    const char *damage;
};

/* The space of a caller's namespace; `name` NULL: "default". ERR_FAILED after call_fail() for a
 * name that is wrong. */
int memory_space_of(struct call *call, const char *name, struct memory_space *space);
/* The same for the namespace of another caller (NULL: the call's own), for the operator's command
 * line, which works on the whole store. */
int memory_space_of_caller(struct call *call, const char *caller, const char *name,
                           struct memory_space *space);

/* ---- changing ---- */

/* A change names what it wants; NULL members are left as they are (or made, when adding). */
struct memory_change {
    const char *key;     /* when adding, NULL: made from the summary */
    const char *new_key; /* the key that it gets; NULL: it keeps its own */
    const char *summary;
    const char *text;
    const char *const *tags;
    size_t tag_count;
    bool set_tags;
    const char *metadata;
    const char *session;
    int64_t place; /* -1: the next one of the session */
    const char *role;
    int64_t created_ms; /* 0: now */
    int64_t expires_ms; /* 0: unchanged, or never when adding; negative: never from now on */
    int64_t if_version; /* 0: whatever it is; else CONFLICT unless it is this one */
    int64_t version;    /* of an update: the earlier version that it starts from; 0: the current */
    bool damaged;       /* the text is a damaged one, as an export said, and stays marked so */
};

enum memory_outcome {
    MEMORY_ADDED,
    MEMORY_REPLACED,  /* there was one of that key */
    MEMORY_UNCHANGED, /* the same was there already */
    MEMORY_DUPLICATE, /* no key was given, and another key holds the same text: `key` says which,
                         and `merged` what of the change was new to it */
    MEMORY_UPDATED,
    MEMORY_RENAMED,
    MEMORY_DELETED,
};

/* What a duplicate brings into the memory that is there. */
enum memory_merged { MEMORY_MERGED_TAGS = 1, MEMORY_MERGED_METADATA = 2, MEMORY_MERGED_EXPIRY = 4 };

struct memory_result {
    enum memory_outcome outcome;
    unsigned merged; /* enum memory_merged; 0: nothing, or it is no duplicate */
    const char *key;
    const char *summary;
    int64_t version;
    int64_t created_ms;
    int64_t updated_ms;
    int64_t replaced_version; /* that this one took the place of; 0: of none */
    int64_t replaced_ms;      /* when that one was written */
};

int memory_add(struct call *call, const struct memory_space *space,
               const struct memory_change *change, struct memory_result *result);
/* NOT_FOUND, CONFLICT. */
int memory_update(struct call *call, const struct memory_space *space,
                  const struct memory_change *change, struct memory_result *result);
/* Changes the key and nothing else. */
int memory_rename(struct call *call, const struct memory_space *space,
                  const struct memory_change *change, struct memory_result *result);
/* Deletes the keys that are there; `deleted` has a place for each key. */
int memory_delete(struct call *call, const struct memory_space *space, const char *const *keys,
                  size_t count, bool *deleted);
/* What became of the memories of an import; the rest of them was there already. */
struct memory_import_counts {
    size_t added;
    size_t replaced;
    size_t expired;    /* left out: an old export may hold what has expired since */
    bool among_others; /* others changed memories at the same time */
};
/* Adds all of them in one transaction. ERR_FAILED names the first that is wrong (its position in
 * `wrong`); then none of them is added. */
int memory_import(struct call *call, const struct memory_space *space,
                  const struct memory_change *changes, size_t count,
                  struct memory_import_counts *counts, size_t *wrong);

/* ---- reading ---- */

/* `found[i].key` is NULL where there is none. `neighbours` of each side in the session come with
 * it, in their order, in `around` (which may be NULL when none are wanted). */
struct memory_around {
    const struct memory *items;
    size_t count;
};
int memory_get(struct call *call, const struct memory_space *space, const char *const *keys,
               size_t count, size_t neighbours, struct memory *found, struct memory_around *around);

/* One version of a memory, the current one or an earlier one that is kept. NOT_FOUND. */
int memory_version(struct call *call, const struct memory_space *space, const char *key,
                   int64_t version, struct memory *found);
/* The versions of a memory that are kept, the current one first; each lives until `take` returns.
 * NOT_FOUND where there is no memory of the key. */
int memory_history(struct call *call, const struct memory_space *space, const char *key,
                   int (*take)(void *context, const struct memory *memory), void *context);

/* What both searches and the list can be narrowed by; NULL and 0: not narrowed. */
struct memory_filter {
    const char *const *tags; /* all of them */
    size_t tag_count;
    int64_t from_ms, until_ms; /* created in between; until is exclusive */
    const char *session;
    const char *role;
    const char *prefix; /* of the key; lists only */
};

struct memory_page {
    const struct memory *items;
    size_t count;
    size_t total;
    bool total_is_lower_bound; /* exact up to LIMIT_MEMORY_EXACT_TOTAL */
};

/* Newest first. */
int memory_list(struct call *call, const struct memory_space *space,
                const struct memory_filter *filter, size_t limit, size_t offset,
                struct memory_page *page);
/* ---- what there is, in numbers (namespace_overview.c) ---- */

struct memory_tag {
    const char *name;
    int64_t memories;
};
/* A day, month or year. */
struct memory_period {
    int64_t from_ms;
    int64_t memories;
};
struct memory_flaw {
    const char *key;
    const char *damage;
    int64_t created_ms;
};
struct memory_overview {
    size_t counted;          /* memories that were looked at, the newest of those that pass */
    bool more;               /* there are more than those */
    struct memory_tag *tags; /* those that most memories have first */
    size_t tag_count;
    bool more_tags;
    const char *unit;              /* of the periods: "day", "month" or "year" */
    struct memory_period *periods; /* newest first, without those that are empty */
    size_t period_count;
    struct memory_flaw *damaged; /* newest first, as many as are named */
    size_t damaged_count;
    size_t all_damaged;
};
int memory_overview(struct call *call, const struct memory_space *space,
                    const struct memory_filter *filter, struct memory_overview *overview);

/* ---- moving (export.c) ---- */

/* What is wanted of the store. */
struct memory_scope {
    const struct memory_space *space; /* one namespace; NULL: every one that the caller may see */
    bool of_everybody;                /* those of all callers: for the operator's command line */
};

/* How much there is. */
struct memory_extent {
    int64_t memories, namespaces;         /* that were taken */
    int64_t all_memories, all_namespaces; /* that the store holds, of all callers */
};

typedef int (*memory_take)(void *context, const struct memory_space *space,
                           const struct memory *memory);

/* Every memory of the scope, one namespace after the other, each in the order of keys. Each is
 * whole, as it was at one moment; what others change meanwhile may be in it or not. No view of the
 * store is held while `take` works, however long it takes. Anything but OK from it ends the export.
 * `extent` may be NULL. */
int memory_export(struct call *call, const struct memory_scope *scope, memory_take take,
                  void *context, struct memory_extent *extent);

/* Where an export that is made in steps has come to. All zero: at its beginning. */
struct memory_position {
    char owner[LIMIT_CALLER_NAME_CHARS * 4 + 1];
    char space[LIMIT_MEMORY_NAMESPACE_CHARS * 4 + 1];
    char key[LIMIT_MEMORY_KEY_BYTES + 1];
    size_t rows;                  /* to ask for at a time; they differ in size */
    int64_t memories, namespaces; /* that were handed out */
    bool in_space;                /* there may be more in this space */
    bool has_memories;            /* and there were some */
    bool over;
};
/* The next memories of the scope: so many that they have LIMIT_MEMORY_EXPORT_BYTES, or are the
 * last; there may be none in a step. The same otherwise. */
int memory_export_some(struct call *call, const struct memory_scope *scope,
                       struct memory_position *position, memory_take take, void *context);

struct memory_namespace {
    struct memory_space space;
    int64_t memories;
    bool hidden; /* its name is shared now and was not, or the other way round: nobody reaches it */
};
/* Every namespace of the scope in the order of owners and names, hidden ones only for everybody.
 */
int memory_namespaces(struct call *call, const struct memory_scope *scope,
                      int (*take)(void *context, const struct memory_namespace *namespace),
                      void *context);

/* ---- searching ---- */

/* What a ranked score is made of: what each brought adds up to it. */
struct memory_parts {
    double words;         /* the memory's own, */
    double neighbours;    /* those of its neighbours in the session, */
    double session;       /* and of the session as a whole */
    double meaning;       /* its vector */
    double share;         /* of the weight of the question's words, that the memory holds */
    double cosine;        /* of its vector and the question's; NaN: none was asked for */
    const char *first_by; /* "key", "phrase": asked for as it stands; NULL: ranked */
};

struct memory_hit {
    const char *key;
    const char *summary;
    const char *excerpt; /* text; of the full-text search HTML with <mark> around hits */
    double relevance;    /* 0 to 1, falls down the list */
    double score;        /* as the ranking computed it */
    struct memory_parts parts;
    int64_t created_ms;
    const char *session;
    const char *role;
    const char *const *tags;
    size_t tag_count;
    const char *damage; /* as of a memory */
};

struct memory_hits {
    const char *ranked_by; /* "words", "words and meaning"; NULL: there is no model */
    const char *note;      /* what the result lacks, and why; NULL: nothing */
    const struct memory_hit *items;
    size_t count;
    size_t total;
    bool total_is_lower_bound;
};

int memory_search(struct call *call, const struct memory_space *space, const char *query,
                  const struct memory_filter *filter, size_t limit, size_t offset,
                  struct memory_hits *hits);

/* One keyword of a full-text search: a word, a "phrase of words", a prefix*, or -excluded. */
enum memory_operator { MEMORY_OR, MEMORY_AND };
int memory_fulltext(struct call *call, const struct memory_space *space,
                    const char *const *keywords, size_t keyword_count, enum memory_operator all,
                    const struct memory_filter *filter, size_t limit, size_t offset,
                    struct memory_hits *hits);

/* ---- looking after it ---- */

struct memory_namespace_stats {
    const char *owner; /* "": shared */
    const char *name;
    bool shared;
    int64_t memories; /* expired ones included, until they are swept away */
    int64_t sessions;
    int64_t text_bytes;
    int64_t oldest_ms, newest_ms; /* 0: empty */
    int64_t indexed;              /* memories that a search finds by their words */
    int64_t embedded;             /* memories that have vectors of the model */
};
struct memory_stats {
    const char *backend; /* "sqlite" or "postgresql" */
    const char *model;   /* whose vectors are counted; NULL: there is none, words rank alone */
    int64_t file_bytes;  /* 0 where it is not a file */
    int schema_version;
    int64_t used_bytes;   /* that the caller's own namespaces take, earlier versions counted */
    int64_t shared_bytes; /* the same of all shared ones */
    int64_t quota_bytes;  /* that each of the two may be; 0: any number */
    struct memory_namespace_stats *namespaces; /* that the caller may see */
    size_t namespace_count;
};
int memory_stats(struct call *call, struct memory_stats *stats);

/* One thing that is wrong: with a memory, or (without a key) with the tables. */
struct memory_problem {
    const char *what;
    const char *owner; /* "": shared */
    const char *space; /* NULL: it is gone */
    const char *key;
    int64_t id;
    int64_t version;
    int64_t written_ms;
    size_t check; /* the check of the tables that found it, from 1; 0: none of them */
    bool repaired;
};
struct memory_check {
    int64_t memories;
    const struct memory_problem *problems; /* `listed` of them */
    size_t listed;                         /* at most LIMIT_MEMORY_CHECK_LINES */
    size_t count;                          /* of all, repaired ones included */
    size_t repaired;
};
/* Verifies every memory, the tables and the indexes of all callers. Without `repair` it changes
 * nothing, not even the version of the tables, and needs no right to. With it, what can be rebuilt
 * from the memories is; damaged memories stay damaged. */
int memory_check(struct call *call, bool repair, struct memory_check *check);
struct memory_reindexed {
    int64_t namespaces, memories;
};
/* Makes the indexes of all callers' namespaces anew; their files are written before the process
 * ends. */
int memory_reindex(struct call *call, struct memory_reindexed *done);
/* A consistent copy of the whole store while it is used (SQLite; PostgreSQL has its own tools). */
int memory_backup(struct call *call, const char *path);

/* Whether the store can be used, for `ready` of the tools; quick, opens nothing. */
bool memory_ready(char *lacks, size_t size);
#endif
