/* Which pieces of a page are shown, where not all that were found fit: one after the other, each
 * time the one that adds most. What it adds is its score, where it stands, the words of the
 * question that nothing shown holds yet, and its ties to what is shown by rare words and names of
 * sections, since an answer often stands in two places that only a name joins; short pieces add
 * more for their length. */
#include "core/buf.h"
#include "reader/focus_internal.h"
#include "text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By cross-validation over HotpotQA's questions (docs/decisions.md). */
#define REACH         2 /* pieces around a hit that may be shown with it, for a part of its score */
#define NEW_WORDS     1.6 /* all words of the question, beside the best score, which counts 1 */
#define TIED          0.6 /* a piece that is tied by FOCUS_WHOLE_TIE words */
#define FIRST         0.1 /* the first piece of a paragraph, which says what that is about */
#define ASKED         0.2 /* a piece of a section that the question names */
#define BREVITY_POWER 0.2
#define USUAL_CHARS   100.0

#define MOST_WEIGHED 256 /* that are chosen so; what fits beside them comes in the order then */
#define MOST_MISSES  32  /* that do not fit, one after the other */

static const double SHARES[REACH + 1] = {1, 0.6, 0.45};

/* A piece that may be shown. */
struct candidate {
    double score;   /* as a share of the best */
    double place;   /* what it adds by where it stands */
    double missing; /* share of the question's weight that it would add */
    double tie;     /* to what is shown, up to 1 */
    double brevity;
    double gain;
    size_t piece;
    bool gone; /* it is shown, or does not fit */
};

/* ---- fitting ---- */

static size_t digits(size_t number)
{
    return (size_t)snprintf(NULL, 0, "%zu", number);
}

/* The characters that a piece takes behind the one that is shown before it. */
static size_t cost(const struct focus *focus, size_t before, size_t piece)
{
    const struct piece *this = &focus->pieces[piece];
    size_t fence = this->fence ? this->fence->prefix.length + this->fence->marks.length + 1 : 0;
    if (goes_on(focus, before, piece)) {
        const struct piece *last = &focus->pieces[before];
        return this->at + this->chars - (last->at + last->chars) + fence;
    }

    size_t mark = strlen("[] ") + digits(this->at) + !this->prose;
    if (before == NO_PIECE || focus->section_of[before] != focus->section_of[piece]) {
        size_t path = section_of(focus, piece)->path_chars;
        mark += path ? strlen(" ") + path : 0;
    }
    size_t head = this->head.data ? text_count(this->head.data, this->head.length) + 1 : 0;
    return (before == NO_PIECE ? 0 : 2) + mark + head + this->chars + fence;
}

/* Where a piece belongs in the order. */
static size_t find_place(const struct piece_choice *choice, size_t piece)
{
    size_t low = 0;
    size_t high = choice->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (choice->pieces[middle] < piece) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Takes a piece in if it fits. */
static bool offer(struct piece_choice *choice, size_t piece, size_t max_chars)
{
    const struct focus *focus = choice->focus;
    size_t place = find_place(choice, piece);
    size_t before = place > 0 ? choice->pieces[place - 1] : NO_PIECE;
    size_t chars = choice->chars + cost(focus, before, piece);
    if (place < choice->count) {
        size_t behind = choice->pieces[place];
        chars = chars - cost(focus, before, behind) + cost(focus, piece, behind);
    }
    if (chars > max_chars) {
        return false;
    }
    memmove(choice->pieces + place + 1, choice->pieces + place,
            (choice->count - place) * sizeof *choice->pieces);
    choice->pieces[place] = piece;
    choice->count++;
    choice->chars = chars;
    return true;
}

/* ---- what a piece adds ---- */

/* Gives the score of a hit to its piece, and a part of it to those around it in the paragraph. */
static void spread(const struct focus *focus, const struct index_hit *hit,
                   struct candidate *candidates)
{
    size_t piece = piece_of_id(focus, hit->id);
    size_t first = piece > REACH ? piece - REACH : 0;
    for (size_t i = first; i <= piece + REACH && i < focus->count; i++) {
        double score = hit->score * SHARES[i < piece ? piece - i : i - piece];
        if (focus->pieces[i].paragraph == focus->pieces[piece].paragraph &&
            candidates[i].score < score) {
            candidates[i].score = score;
        }
    }
}

static double weight_of(const struct focus *focus, uint64_t words)
{
    double weight = 0;
    for (; words; words &= words - 1) {
        weight += focus->weights[__builtin_ctzll(words)];
    }
    return weight;
}

static void count_missing(const struct focus *focus, struct candidate *candidates, uint64_t covered)
{
    double all = weight_of(focus, UINT64_MAX);
    for (size_t i = 0; i < focus->count && all > 0; i++) {
        candidates[i].missing = weight_of(focus, focus->held[i] & ~covered) / all;
    }
}

/* What a piece adds by where it stands. */
static double place_of(const struct focus *focus, size_t piece, double score)
{
    bool first = piece == 0 || focus->pieces[piece].paragraph != focus->pieces[piece - 1].paragraph;
    return (first && score > 0 ? FIRST : 0) + (section_of(focus, piece)->asked ? ASKED : 0);
}

static void start(const struct focus *focus, struct candidate *candidates)
{
    double best = focus->hit_count > 0 ? focus->hits[0].score : 0;
    for (size_t i = 0; i < focus->hit_count; i++) {
        spread(focus, &focus->hits[i], candidates);
    }
    for (size_t i = 0; i < focus->count; i++) {
        double chars = (double)focus->pieces[i].chars;
        candidates[i].piece = i;
        candidates[i].score = best > 0 ? candidates[i].score / best : 0;
        candidates[i].place = place_of(focus, i, candidates[i].score);
        candidates[i].brevity = pow(2 * USUAL_CHARS / (USUAL_CHARS + chars), BREVITY_POWER);
    }
    count_missing(focus, candidates, 0);
}

/* What is tied to a piece that is shown now; the better the piece, the closer. */
static void follow_ties(const struct focus *focus, struct candidate *candidates, size_t piece)
{
    size_t from = 0;
    while (from < focus->tie_count && focus->ties[from].from != piece) {
        from++;
    }
    size_t until = from;
    while (until < focus->tie_count && focus->ties[until].from == piece) {
        until++;
    }
    for (size_t i = from; i < until; i++) {
        double sum = 0;
        for (size_t j = from; j < until; j++) {
            sum += focus->ties[j].to == focus->ties[i].to ? focus->ties[j].weight : 0;
        }
        double tie = fmin(sum / FOCUS_WHOLE_TIE * candidates[piece].score, 1);
        struct candidate *to = &candidates[focus->ties[i].to];
        to->tie = fmax(to->tie, tie);
    }
}

static void weigh(struct candidate *one)
{
    one->gain =
        (one->score + one->place + NEW_WORDS * one->missing + TIED * one->tie) * one->brevity;
}

/* ---- choosing ---- */

static int by_gain(const void *left, const void *right)
{
    const struct candidate *a = left;
    const struct candidate *b = right;
    return a->gain != b->gain    ? (a->gain > b->gain ? -1 : 1)
           : a->piece < b->piece ? -1
                                 : a->piece > b->piece;
}

/* The best that is left; of equal ones the first. NO_PIECE: nothing adds anything. */
static size_t find_best(const struct focus *focus, struct candidate *candidates)
{
    size_t best = NO_PIECE;
    for (size_t i = 0; i < focus->count; i++) {
        weigh(&candidates[i]);
        if (!candidates[i].gone && candidates[i].gain > 0 &&
            (best == NO_PIECE || candidates[i].gain > candidates[best].gain)) {
            best = i;
        }
    }
    return best;
}

static void choose_weighed(struct piece_choice *choice, struct candidate *candidates,
                           size_t max_chars)
{
    const struct focus *focus = choice->focus;
    uint64_t covered = 0;
    size_t misses = 0;
    size_t best;
    while (choice->count < MOST_WEIGHED && misses < MOST_MISSES &&
           (best = find_best(focus, candidates)) != NO_PIECE) {
        candidates[best].gone = true;
        if (!offer(choice, best, max_chars)) {
            misses++;
            continue;
        }
        misses = 0;
        follow_ties(focus, candidates, best);
        if (focus->held[best] & ~covered) {
            covered |= focus->held[best];
            count_missing(focus, candidates, covered);
        }
    }
}

int choice_make(struct piece_choice *choice, size_t max_chars)
{
    const struct focus *focus = choice->focus;
    struct candidate *candidates = calloc(focus->count + 1, sizeof *candidates);
    choice->pieces = arena_alloc(focus->arena, (focus->count + 1) * sizeof *choice->pieces);
    if (!candidates || !choice->pieces) {
        free(candidates);
        return ERR_NOMEM;
    }
    start(focus, candidates);
    choose_weighed(choice, candidates, max_chars);
    qsort(candidates, focus->count, sizeof *candidates, by_gain);
    for (size_t i = 0; i < focus->count && candidates[i].gain > 0; i++) {
        if (!candidates[i].gone) {
            (void)offer(choice, candidates[i].piece, max_chars); /* or it is left out */
        }
    }
    free(candidates);
    return OK;
}
