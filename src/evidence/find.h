/* Finding a sentence again: word by word, or with a few words exchanged. What it costs is bounded:
 * every comparison of two tokens in an alignment is paid from one account, and when that is empty
 * only what is there word by word is found. */
#ifndef FORAGE_EVIDENCE_FIND_H
#define FORAGE_EVIDENCE_FIND_H

#include "evidence/evidence.h"
#include "evidence/tokens.h"

/* Where a quote stands in a text, in bytes. */
struct found_quote {
    enum evidence_grade grade;
    size_t start, end;
};

/* Looks for a quote. `work` is the account. OK or ERR_NOMEM. */
MUST_CHECK int find_quote(const char *text, size_t length, const char *quote, size_t *work,
                          struct found_quote *found);

/* ---- for those who look for sentences of their own ---- */

/* A token that the other side does not have, or has another one for. */
struct token_edit {
    const struct token *pattern, *text; /* NULL: it has none */
};

#define SEEKER_PLACES 64 /* a power of two */

/* A pattern whose places in a text may differ from it in at most `most` tokens. Marks must be
 * dropped from both before. */
struct seeker {
    const struct token *pattern;
    size_t count;
    size_t most;
    bool rests; /* it is not looked for in this text */
    struct token_edit *edits;
    size_t edit_count;
    unsigned char *steps;
    uint16_t *costs;
    size_t band;                      /* so far to either side of a place it is aligned */
    ptrdiff_t tried[SEEKER_PLACES];   /* places where it was, lately */
    bool *fixed_pattern, *fixed_text; /* the latter from where the band begins */
};

/* OK or ERR_NOMEM. */
MUST_CHECK int seeker_init(struct seeker *seeker, struct arena *arena, const struct token *pattern,
                           size_t count, size_t most);

/* Some patterns that are looked for together: by blocks of so many tokens, of which each place has
 * one that is the same. */
struct pattern_net {
    struct seeker *seekers;
    size_t count;
    size_t block;
    struct knot *knots; /* the blocks of all patterns */
    uint32_t *slots;    /* the first of those with a hash: its number plus one */
    size_t mask;
    struct arena *arena;
    /* Tokens that must be on both sides; NULL: there are none such. */
    bool (*is_fixed)(void *context, bool of_pattern, const struct token *token);
    /* Gets each place, from the token `first` to before `end`, with the edits in the seeker; a
     * place may come twice. False ends the search. */
    bool (*take)(void *context, const struct seeker *seeker, size_t first, size_t end);
    void *context;
};

/* Makes the table of all patterns. OK or ERR_NOMEM. */
MUST_CHECK int net_init(struct pattern_net *net, struct arena *arena, struct seeker *seekers,
                        size_t count, size_t block);
/* Looks for all of them in a text. `work` is the account. */
void net_run(struct pattern_net *net, const struct tokens *text, size_t *work);

#endif
