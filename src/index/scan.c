/* A segment is scanned in stretches of documents. For each stretch the entries of the lists bound
 * what each word could bring there. The words that could bring least, as long as all of them
 * together make no document that is good enough, are not essential: they do not lead to documents,
 * and are only looked up for those that the other words lead to. Words without meaning never lead
 * anywhere, unless there are no others. A word of many terms is added up for the whole stretch. */
#include "index/scan.h"

#include "core/status.h"
#include "index/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRETCH 4096u   /* documents */
#define LENGTHS 512u    /* that tables are made for, where there are as many documents */
#define SLACK   1.00001 /* sums are made in another order than their bounds */
#define FEW     4       /* lists that are looked into for each document */

/* Where one looks into a list. They are large, and apart from what is asked for every stretch. */
struct cursors {
    struct postings_cursor documents, passages;
};

/* A list of one term in the segment at hand. */
struct scanned_list {
    struct cursors *cursors;
    const struct question_term *term;
    uint32_t next;    /* of a list of less than a block: its next document, or one before that */
    uint32_t block;   /* the first that reaches into the stretch at hand, or beyond */
    uint32_t bounded; /* the block that `bound` is of */
    double bound;     /* of that, or of a list of less than a block */
    bool is_short;    /* less than a block */
    bool only_compound;
    bool reaches; /* into the stretch at hand */
};

struct scan_word {
    struct scanned_list *lists;
    size_t list_count;
    double weight;
    const double *once;        /* what it brings by its length to a document that holds it once */
    bool leads;                /* to documents: it has a meaning */
    uint32_t shortest;         /* document that may hold it */
    double most;               /* that it brings, however often a document holds it */
    double whole;              /* bounds what it brings anywhere in the segment, */
    double bound;              /* and in the stretch at hand */
    size_t reaching;           /* lists that reach into the stretch; */
    struct scanned_list *only; /* the one that does; NULL: there are several */
    /* How often each document of the stretch holds it, once that was gathered: */
    bool gathered;
    float *times;
    uint64_t held[STRETCH / 64];
};

/* What a document has by the words that led to it, or were looked up. */
struct document_tally {
    double sum;
    double covered;
};

struct scan_work {
    struct scan *scan;
    const struct view_part *part;
    uint32_t number; /* of the part */
    struct scanned_list *lists;
    struct cursors *cursors; /* one for each list */
    struct scan_word *words; /* of the segment, those that bring least first */
    size_t word_count;
    double weight;    /* of all words of the question */
    uint32_t lengths; /* that the tables have, LENGTHS or none; and the longest stretch, in whole */
    uint32_t span;    /* words of marks. A small store needs little of either */
    double *tables;   /* of slowness, of shortness, and of what each word of the question brings */
    float *times;     /* `span` for each word of the question */
    bool compound[UINT8_MAX + 1]; /* languages that write words together */
    /* Of each document in the stretch at hand: */
    struct document_tally *tallies;
    uint64_t marked[STRETCH / 64];
    /* Of the passages of a document: */
    float *passage_sums;
    uint32_t passage_capacity;
};

/* ---- hits ---- */

static bool before(const struct scan_hit *a, const struct scan_hit *b)
{
    return a->score != b->score ? a->score > b->score : a->id > b->id;
}

/* Further down the list a hit is less likely the answer than if it were the first, by how far its
 * score is behind the best. */
struct index_hit *scan_answer(struct scan_hits *hits, struct arena *arena, int64_t first)
{
    struct index_hit *answer = arena_alloc(arena, (hits->count + (size_t)1) * sizeof *answer);
    double best = 0;
    for (uint32_t i = 0; i < hits->count; i++) {
        best = fmax(best, hits->items[i].score);
    }
    for (uint32_t i = 0; i < hits->count && answer; i++) {
        const struct scan_hit *hit = &hits->items[i];
        bool key = first != 0 && hit->id == first;
        double behind = best > 0 ? hit->score / best : 0;
        answer[i] = (struct index_hit){
            .id = hit->id,
            .score = hit->score,
            .relevance = key ? 1 : score_relevance(hit->covered) * behind,
            .precedence = key ? INDEX_KEY : INDEX_RANKED,
            .parts = {.words = hit->own,
                      .neighbours = hit->given,
                      .session = hit->session,
                      .share = hit->covered,
                      .cosine = NAN},
        };
    }
    if (answer) {
        index_order(answer, hits->count);
    }
    return answer;
}

/* A heap whose first is the worst of the kept. */
static void sink(struct scan_hit *heap, size_t count, size_t at)
{
    for (;;) {
        size_t worst = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            worst = before(&heap[worst], &heap[child]) ? child : worst;
        }
        if (worst == at) {
            return;
        }
        struct scan_hit moved = heap[at];
        heap[at] = heap[worst];
        heap[worst] = moved;
        at = worst;
    }
}

int scan_keep(struct scan_hits *hits, const struct scan_hit *hit)
{
    if (hits->most == 0 || hits->count < hits->most) {
        int status =
            array_reserve(&hits->items, &hits->capacity, hits->count + 1, sizeof *hits->items);
        if (status != OK) {
            return status;
        }
        hits->items[hits->count++] = *hit;
        for (size_t at = hits->count / 2; hits->count == hits->most && at-- > 0;) {
            sink(hits->items, hits->count, at);
        }
    } else if (before(hit, &hits->items[0])) {
        hits->items[0] = *hit;
        sink(hits->items, hits->count, 0);
    }
    return OK;
}

/* The score that a document must reach to be kept. */
static double least_score(const struct scan *scan)
{
    const struct scan_hits *hits = &scan->passing;
    return scan->only_best && hits->count == hits->most ? hits->items[0].score : 0;
}

/* ---- bounds ---- */

static double slowness_of(const struct scan_work *work, uint32_t length)
{
    return length < work->lengths ? work->tables[length]
                                  : score_slowness(&work->scan->manner, length, false);
}

static double shortness_of(const struct scan_work *work, uint32_t length)
{
    return length < work->lengths ? work->tables[LENGTHS + length]
                                  : score_text(&work->scan->manner, 1, 1, 1, length);
}

/* The most that a word brings to documents that are not shorter and hold it no more often. */
static double most_of(const struct scan_work *work, double weight, double times, uint32_t length)
{
    double most =
        times < UINT32_MAX ? score_word(weight, times, slowness_of(work, length)) : weight;
    double shortness = shortness_of(work, length > 0 ? length : 1);
    return most * (length > 0 || shortness > 1 ? shortness : 1);
}

static double bound_of(const struct scan_work *work, double weight, const struct scanned_list *list,
                       const struct postings_bound *bound)
{
    double once = bound->once_length == UINT32_MAX
                      ? 0
                      : most_of(work, weight, list->term->weight, bound->once_length);
    double times = bound->most_times == UINT32_MAX ? UINT32_MAX
                                                   : (double)bound->most_times * list->term->weight;
    double more = bound->most_times == 0 ? 0 : most_of(work, weight, times, bound->more_length);
    return once > more ? once : more;
}

static uint32_t shortest_of(const struct postings_bound *bound)
{
    uint32_t more = bound->most_times > 0 ? bound->more_length : UINT32_MAX;
    return bound->once_length < more ? bound->once_length : more;
}

static bool has_passages(const struct segment *segment, uint32_t document)
{
    return segment->passage_count > 0 &&
           segment->passage_starts[document] != segment->passage_starts[document + 1];
}

/* The bound of a list of less than a block, from its documents. */
static void bound_short(const struct segment *segment, const struct postings_cursor *cursor,
                        struct postings_bound *bound)
{
    *bound = (struct postings_bound){.once_length = UINT32_MAX, .more_length = UINT32_MAX};
    for (uint32_t i = 0; i < cursor->filled; i++) {
        uint32_t length = segment->lengths[cursor->documents[i]];
        bool unbounded = has_passages(segment, cursor->documents[i]);
        uint32_t times = unbounded ? UINT32_MAX : cursor->all_times[i];
        uint32_t *shortest = times == 1 ? &bound->once_length : &bound->more_length;
        *shortest = length < *shortest ? length : *shortest;
        bound->most_times = times > 1 && times > bound->most_times ? times : bound->most_times;
    }
}

/* Bounds a list as a whole, at its start. */
static void bound_list(struct scan_work *work, struct scan_word *word, struct scanned_list *list)
{
    const struct postings_cursor *cursor = &list->cursors->documents;
    uint32_t count = list->is_short ? 1 : cursor->block_count;
    double most = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct postings_bound bound;
        if (list->is_short) {
            bound_short(&work->part->segment, cursor, &bound);
        } else {
            postings_block_bound(cursor, i, &bound);
        }
        double here = bound_of(work, word->weight, list, &bound);
        uint32_t shortest = shortest_of(&bound);
        most = here > most ? here : most;
        word->shortest = shortest < word->shortest ? shortest : word->shortest;
    }
    list->bound = most;
    word->whole += most;
}

/* Bounds a list between two documents. */
static double bound_between(const struct scan_work *work, double weight, struct scanned_list *list,
                            uint32_t start, uint32_t end)
{
    struct postings_cursor *cursor = &list->cursors->documents;
    if (list->next >= end) {
        return 0;
    }
    if (list->is_short) {
        postings_seek(cursor, start);
        list->next = cursor->document;
        return list->next < end ? list->bound : 0;
    }
    while (list->block < cursor->block_count && postings_block_last(cursor, list->block) < start) {
        list->block++;
    }
    double most = 0;
    for (uint32_t i = list->block; i < cursor->block_count; i++) {
        if (list->bounded != i) {
            struct postings_bound bound;
            postings_block_bound(cursor, i, &bound);
            list->bound = bound_of(work, weight, list, &bound);
            list->bounded = i;
        }
        most = list->bound > most ? list->bound : most;
        if (postings_block_last(cursor, i) >= end - 1) {
            break;
        }
    }
    return most;
}

/* Bounds what a word brings between two documents. */
static void bound_word(const struct scan_work *work, struct scan_word *word, uint32_t start,
                       uint32_t end)
{
    double sum = 0;
    word->reaching = 0;
    for (size_t i = 0; i < word->list_count; i++) {
        struct scanned_list *list = &word->lists[i];
        double bound = bound_between(work, word->weight, list, start, end);
        list->reaches = bound > 0;
        word->only = bound > 0 ? list : word->only;
        word->reaching += bound > 0;
        sum += bound;
    }
    word->only = word->reaching == 1 ? word->only : NULL;
    word->bound = sum < word->most ? sum : word->most;
}

/* What these sums make of a document at most: `covered` is the weight of the words it may hold. */
static double highest(const struct scan_work *work, double sum, double covered)
{
    double share = work->scan->manner.coverage;
    return sum * (1 - share + share * covered / work->weight) * SLACK;
}

/* ---- the words of a segment ---- */

static int by_whole(const void *left, const void *right)
{
    const struct scan_word *a = left;
    const struct scan_word *b = right;
    return a->leads != b->leads ? (a->leads ? 1 : -1)
                                : (a->whole > b->whole) - (a->whole < b->whole);
}

/* Opens the lists that the segment has of a word. */
static void open_word(struct scan_work *work, size_t number, size_t first)
{
    const struct segment *segment = &work->part->segment;
    const struct question_word *from = &work->scan->question->words[number];
    struct scan_word *word = &work->words[work->word_count];
    *word = (struct scan_word){.lists = work->lists + first,
                               .weight = work->scan->weights[number],
                               .once = work->tables + (number + 2) * work->lengths,
                               .times = work->times + number * work->span,
                               .leads = !from->stop || work->scan->question->only_stops,
                               .shortest = UINT32_MAX};
    for (size_t i = 0; i < from->count; i++) {
        const struct view_term *term = &from->terms[i].found;
        if (term->lists[work->number].count == 0) {
            continue;
        }
        struct scanned_list *list = &word->lists[word->list_count];
        *list = (struct scanned_list){.cursors = work->cursors + first + word->list_count,
                                      .term = &from->terms[i],
                                      .bounded = UINT32_MAX,
                                      .only_compound = from->terms[i].only_compound,
                                      .is_short = term->lists[work->number].count < POSTINGS_BLOCK};
        word->list_count++;
        postings_start(&list->cursors->documents, &term->lists[work->number], segment->documents);
        if (segment->passage_count > 0) {
            postings_start(&list->cursors->passages, &term->passages[work->number],
                           segment->passage_count);
        }
        bound_list(work, word, list);
    }
    word->most = most_of(work, word->weight, UINT32_MAX, word->shortest);
    word->whole = word->whole < word->most ? word->whole : word->most;
    work->word_count += word->list_count > 0;
}

static void open_words(struct scan_work *work)
{
    const struct question *question = work->scan->question;
    size_t first = 0;
    work->word_count = 0;
    for (size_t i = 0; i < question->count; i++) {
        open_word(work, i, first);
        first += question->words[i].count;
    }
    qsort(work->words, work->word_count, sizeof *work->words, by_whole);
}

/* ---- scores ---- */

static bool counts_in(const struct scan_work *work, const struct scanned_list *list,
                      uint32_t document)
{
    return !list->only_compound | work->compound[work->part->segment.languages[document]];
}

/* What a word brings to a document. */
static inline double score_of(const struct scan_work *work, const struct scan_word *word,
                              uint32_t length, double times)
{
    return times == 1 && length < work->lengths
               ? word->once[length]
               : score_word(word->weight, times, slowness_of(work, length));
}

static inline void add_score(struct scan_work *work, const struct scan_word *word,
                             uint32_t document, uint32_t slot, double times)
{
    struct document_tally *tally = &work->tallies[slot];
    tally->sum += score_of(work, word, work->part->segment.lengths[document], times);
    tally->covered += word->weight * (times < 1 ? times : 1);
}

/* Gives the word's part to each document of the stretch that holds it: one list reaches there. */
static void lead_by_one(struct scan_work *work, const struct scan_word *word, uint32_t start,
                        uint32_t end)
{
    struct postings_cursor *cursor = &word->only->cursors->documents;
    float weight = word->only->term->weight;
    for (postings_seek(cursor, start); cursor->document < end; postings_next(cursor)) {
        if (counts_in(work, word->only, cursor->document)) {
            uint32_t slot = cursor->document - start;
            work->marked[slot / 64] |= UINT64_C(1) << slot % 64;
            add_score(work, word, cursor->document, slot, (float)cursor->times * weight);
        }
    }
}

/* Adds how often each document of the stretch that a block names, up to `until` in it, holds the
 * term; the most that one then has. */
static inline float gather_block(const struct scan_work *work, struct scan_word *word,
                                 const struct scanned_list *list, uint32_t start, uint32_t until,
                                 bool only_compound)
{
    const struct postings_cursor *cursor = &list->cursors->documents;
    const bool *compound = work->compound;
    const uint8_t *languages = work->part->segment.languages;
    float weight = list->term->weight;
    float most = 0;
    for (uint32_t i = cursor->at; i < until; i++) {
        /* Without branches: where languages are mixed, none could be foreseen. */
        uint32_t slot = cursor->documents[i] - start;
        bool counts = !only_compound || compound[languages[cursor->documents[i]]];
        word->held[slot / 64] |= (uint64_t)counts << slot % 64;
        float times = word->times[slot] + (float)(cursor->all_times[i] * counts) * weight;
        word->times[slot] = times;
        most = times > most ? times : most;
    }
    return most;
}

/* Adds up how often each document of the stretch holds the word; what that brings at most may be
 * much less than what the bounds of all lists together say. */
static void gather(const struct scan_work *work, struct scan_word *word, uint32_t start,
                   uint32_t end)
{
    float most = 0;
    word->gathered = true;
    for (size_t i = 0; i < word->list_count; i++) {
        const struct scanned_list *list = &word->lists[i];
        if (!list->reaches) {
            continue;
        }
        struct postings_cursor *cursor = &list->cursors->documents;
        for (postings_seek(cursor, start); cursor->document < end;) {
            uint32_t until = postings_until(cursor, end);
            float here = list->only_compound ? gather_block(work, word, list, start, until, true)
                                             : gather_block(work, word, list, start, until, false);
            most = here > most ? here : most;
            postings_go(cursor, until);
        }
    }
    double bound = most_of(work, word->weight, most, word->shortest);
    if (work->part->segment.passage_count == 0 && bound < word->bound) {
        word->bound = bound;
    }
}

static void forget(const struct scan_work *work, struct scan_word *word)
{
    if (word->gathered) {
        memset(word->times, 0, work->span * sizeof *word->times);
        memset(word->held, 0, sizeof word->held);
    }
    word->gathered = false;
}

/* The same as lead_by_one() for several lists. */
static void lead_by_all(struct scan_work *work, struct scan_word *word, uint32_t start,
                        uint32_t end)
{
    if (!word->gathered) {
        gather(work, word, start, end);
    }
    for (uint32_t i = 0; i < work->span / 64; i++) {
        work->marked[i] |= word->held[i];
        for (uint64_t left = word->held[i]; left; left &= left - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(left);
            add_score(work, word, start + slot, slot, word->times[slot]);
        }
    }
}

/* How often a document holds the word, of a stretch in which none behind it was asked for. */
static double times_in(struct scan_work *work, struct scan_word *word, uint32_t document)
{
    float times = 0;
    if (word->reaching > FEW && !word->gathered) {
        uint32_t start = document - document % STRETCH;
        gather(work, word, start, start + STRETCH);
    }
    if (word->gathered) {
        return word->times[document % STRETCH];
    }
    for (size_t i = 0; i < word->list_count; i++) {
        struct scanned_list *list = &word->lists[i];
        if (!list->reaches) {
            continue;
        }
        struct postings_cursor *cursor = &list->cursors->documents;
        postings_seek(cursor, document);
        if (cursor->document == document && counts_in(work, list, document)) {
            times += (float)cursor->times * list->term->weight;
        }
    }
    return times;
}

/* Adds the word's part to the passages of a document, of which the first has this number. */
static void score_passages(struct scan_work *work, struct scan_word *word, uint32_t document,
                           uint32_t first, const uint32_t *lengths, uint32_t count, float *times)
{
    memset(times, 0, count * sizeof *times);
    for (size_t i = 0; i < word->list_count; i++) {
        struct postings_cursor *cursor = &word->lists[i].cursors->passages;
        for (postings_seek(cursor, first); cursor->document < first + count;
             postings_next(cursor)) {
            times[cursor->document - first] +=
                counts_in(work, &word->lists[i], document)
                    ? (float)cursor->times * word->lists[i].term->weight
                    : 0;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (times[i] > 0) {
            double slowness = score_slowness(&work->scan->manner, lengths[i], true);
            work->passage_sums[i] += (float)score_word(word->weight, times[i], slowness);
        }
    }
}

/* The score of the best passage of a document that has several. */
static int best_passage(struct scan_work *work, uint32_t document, double *best)
{
    uint32_t first;
    uint32_t count;
    const uint32_t *lengths = segment_passages(&work->part->segment, document, &first, &count);
    int status = array_reserve(&work->passage_sums, &work->passage_capacity, 2 * count + 2,
                               sizeof *work->passage_sums);
    if (status != OK || count == 0) {
        return status;
    }
    memset(work->passage_sums, 0, count * sizeof *work->passage_sums);
    for (size_t i = 0; i < work->word_count; i++) {
        score_passages(work, &work->words[i], document, first, lengths, count,
                       work->passage_sums + count);
    }
    *best = 0;
    for (uint32_t i = 0; i < count; i++) {
        *best = work->passage_sums[i] > *best ? work->passage_sums[i] : *best;
    }
    return OK;
}

/* Keeps a document whose words have all been counted. */
static int keep(struct scan_work *work, uint32_t document, uint32_t slot)
{
    struct scan *scan = work->scan;
    const struct document_tally *tally = &work->tallies[slot];
    double best = tally->sum;
    int status =
        has_passages(&work->part->segment, document) ? best_passage(work, document, &best) : OK;
    struct scan_hit hit = {
        .part = work->number,
        .document = document,
        .id = work->part->segment.ids[document],
        .score = (float)score_text(&scan->manner, tally->sum, best, tally->covered / work->weight,
                                   work->part->segment.lengths[document]),
        .covered = (float)(tally->covered / work->weight),
    };
    hit.own = hit.score;
    if (status != OK || filter_expired(scan->filter, work->number, document)) {
        return status;
    }
    bool passes = filter_passes(scan->filter, work->number, document);
    scan->passed += passes;
    return passes              ? scan_keep(&scan->passing, &hit)
           : scan->with_others ? scan_keep(&scan->others, &hit)
                               : OK;
}

/* Whether a document could be good enough, with so much more from words that were not looked up. */
static inline bool could_do(const struct scan_work *work, uint32_t document, uint32_t slot,
                            double bound, double weight, double least)
{
    const struct segment *segment = &work->part->segment;
    const struct document_tally *tally = &work->tallies[slot];
    double shortness = shortness_of(work, segment->lengths[document]);
    return highest(work, tally->sum * shortness + bound, tally->covered + weight) >= least ||
           has_passages(segment, document);
}

/* Looks the words up that did not lead here, and keeps the document unless it turns out not to be
 * good enough. */
static int look_up(struct scan_work *work, uint32_t document, uint32_t slot, size_t inessential,
                   const double *bounds, const double *weights)
{
    double least = least_score(work->scan);
    for (size_t i = inessential; could_do(work, document, slot, bounds[i], weights[i], least);
         i--) {
        if (i == 0) {
            return view_is_dead(work->part, document) ? OK : keep(work, document, slot);
        }
        struct scan_word *word = &work->words[i - 1];
        double times = word->bound > 0 ? times_in(work, word, document) : 0;
        if (times > 0) {
            add_score(work, word, document, slot, times);
        }
    }
    return OK;
}

static int look_up_marked(struct scan_work *work, uint32_t start, size_t inessential,
                          const double *bounds, const double *weights)
{
    int status = OK;
    for (uint32_t i = 0; i < work->span / 64; i++) {
        for (uint64_t left = work->marked[i]; left; left &= left - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(left);
            if (status == OK) {
                status = look_up(work, start + slot, slot, inessential, bounds, weights);
            }
            work->tallies[slot] = (struct document_tally){0};
        }
        work->marked[i] = 0;
    }
    return status;
}

/* One word leads, by one list: each document is looked at as it comes. */
static int lead_alone(struct scan_work *work, const struct scan_word *word, uint32_t start,
                      uint32_t end, size_t inessential, const double *bounds, const double *weights)
{
    struct postings_cursor *cursor = &word->only->cursors->documents;
    float weight = word->only->term->weight;
    int status = OK;
    for (postings_seek(cursor, start); cursor->document < end && status == OK;
         postings_next(cursor)) {
        if (counts_in(work, word->only, cursor->document)) {
            work->tallies[0] = (struct document_tally){0};
            add_score(work, word, cursor->document, 0, (float)cursor->times * weight);
            status = look_up(work, cursor->document, 0, inessential, bounds, weights);
        }
    }
    work->tallies[0] = (struct document_tally){0};
    return status;
}

/* Lets the words from `inessential` on lead to the documents of the stretch. */
static int lead(struct scan_work *work, uint32_t start, uint32_t end, size_t inessential,
                const double *bounds, const double *weights)
{
    if (inessential + 1 == work->word_count && work->words[inessential].only) {
        return lead_alone(work, &work->words[inessential], start, end, inessential, bounds,
                          weights);
    }
    for (size_t i = inessential; i < work->word_count; i++) {
        if (work->words[i].only) {
            lead_by_one(work, &work->words[i], start, end);
        } else {
            lead_by_all(work, &work->words[i], start, end);
        }
    }
    return look_up_marked(work, start, inessential, bounds, weights);
}

/* How many of the first words are not essential, by what each brings. */
static size_t count_inessential(const struct scan_work *work, double least, double *bounds,
                                double *weights)
{
    size_t inessential = 0;
    /* bounds[i]: what the first i words bring together; weights[i]: how much of the question. */
    for (size_t i = 0; i < work->word_count; i++) {
        const struct scan_word *word = &work->words[i];
        bounds[i + 1] = bounds[i] + word->bound;
        weights[i + 1] = weights[i] + (word->bound > 0 ? word->weight : 0);
        bool essential = word->leads && highest(work, bounds[i + 1], weights[i + 1]) >= least;
        inessential = !essential ? i + 1 : inessential;
    }
    return inessential;
}

static int scan_stretch(struct scan_work *work, uint32_t start, uint32_t end, double *bounds,
                        double *weights)
{
    double least = least_score(work->scan);
    for (size_t i = 0; i < work->word_count; i++) {
        bound_word(work, &work->words[i], start, end);
    }
    size_t inessential = count_inessential(work, least, bounds, weights);
    for (size_t i = work->word_count; i-- > inessential;) {
        if (work->words[i].reaching > FEW) {
            gather(work, &work->words[i], start, end);
            inessential = count_inessential(work, least, bounds, weights);
        }
    }
    int status = OK;
    if (inessential < work->word_count) {
        status = lead(work, start, end, inessential, bounds, weights);
    }
    for (size_t i = 0; i < work->word_count; i++) {
        forget(work, &work->words[i]);
    }
    return status;
}

/* ---- everything ---- */

static int scan_part(struct scan_work *work, double *bounds, double *weights)
{
    uint32_t documents = work->part->segment.documents;
    int status = OK;
    open_words(work);
    double whole = 0;
    for (size_t i = 0; i < work->word_count; i++) {
        whole += work->words[i].whole;
    }
    if (whole * SLACK < least_score(work->scan)) {
        return OK;
    }
    for (uint32_t start = 0; start < documents && status == OK;) {
        uint32_t end = documents - start > STRETCH ? start + STRETCH : documents;
        status = scan_stretch(work, start, end, bounds, weights);
        start = end;
    }
    return status;
}

/* What the scores of short texts are made of, once for all of them. */
static void fill_tables(struct scan_work *work)
{
    const struct scan *scan = work->scan;
    double *slowness = work->tables;
    for (uint32_t i = 0; i < work->lengths; i++) {
        slowness[i] = score_slowness(&scan->manner, i, false);
        slowness[LENGTHS + i] = score_text(&scan->manner, 1, 1, 1, i);
    }
    double *once = slowness + 2 * (size_t)work->lengths;
    for (size_t i = 0; i < scan->question->count * work->lengths; i++) {
        once[i] = score_word(scan->weights[i / LENGTHS], 1, slowness[i % LENGTHS]);
    }
}

static int start_work(struct scan_work *work, struct scan *scan)
{
    size_t words = scan->question->count;
    size_t lists = 0;
    size_t documents = 0;
    uint32_t longest = 0;
    work->scan = scan;
    for (size_t i = 0; i < words; i++) {
        lists += scan->question->words[i].count;
        work->weight += scan->weights[i];
    }
    for (uint32_t i = 0; i < scan->view->count; i++) {
        uint32_t here = scan->view->parts[i].segment.documents;
        longest = here > longest ? here : longest;
        documents += here;
    }
    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        work->compound[i] = words_compound((enum language)i);
    }
    work->weight = work->weight > 0 ? work->weight : 1;
    work->lengths = documents < LENGTHS ? 0 : LENGTHS;
    work->span = longest < STRETCH ? (longest + 63) / 64 * 64 : STRETCH;
    work->lists = malloc((lists + 1) * sizeof *work->lists);
    work->cursors = malloc((lists + 1) * sizeof *work->cursors);
    work->words = malloc((words + 1) * sizeof *work->words);
    work->tables = malloc(((words + 2) * work->lengths + 1) * sizeof *work->tables);
    work->times = calloc(words * work->span + 1, sizeof *work->times);
    work->tallies = calloc((size_t)work->span + 1, sizeof *work->tallies);
    if (!work->lists || !work->cursors || !work->words || !work->tables || !work->times ||
        !work->tallies) {
        return ERR_NOMEM;
    }
    fill_tables(work);
    return OK;
}

int scan_run(struct scan *scan)
{
    struct scan_work *work = calloc(1, sizeof *work);
    double *bounds = calloc(2 * (scan->question->count + 1), sizeof *bounds);
    int status = work && bounds ? start_work(work, scan) : ERR_NOMEM;
    for (uint32_t i = 0; i < scan->view->count && status == OK; i++) {
        work->part = &scan->view->parts[i];
        work->number = i;
        status = scan_part(work, bounds, bounds + scan->question->count + 1);
    }
    if (work) {
        free(work->lists);
        free(work->cursors);
        free(work->words);
        free(work->tables);
        free(work->times);
        free(work->tallies);
        free(work->passage_sums);
    }
    free(work);
    free(bounds);
    return status;
}
