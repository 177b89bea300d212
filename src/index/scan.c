/* A segment is scanned in stretches of documents. For each stretch the entries of the lists bound
 * what each word could bring there. The words that could bring least, as long as all of them
 * together make no document that is good enough, are not essential: they do not lead to documents,
 * and are only looked up for those that the other words lead to. Words without meaning never lead
 * anywhere, unless there are no others. */
#include "index/scan.h"

#include "core/status.h"
#include "index/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRETCH 1024u   /* documents */
#define LENGTHS 512u    /* that a table is made for */
#define SLACK   1.00001 /* sums are made in another order than their bounds */

/* A list of one term in the segment at hand. */
struct list {
    struct postings_cursor cursor;
    const struct question_term *term;
    struct postings_cursor passages;
    uint32_t block; /* the first that reaches into the stretch at hand, or beyond */
    double bound;   /* of a list of less than a block */
};

struct scan_word {
    struct list *lists;
    size_t list_count;
    double weight;
    bool leads;   /* to documents: it has a meaning */
    double whole; /* bounds what it brings anywhere in the segment, */
    double bound; /* and in the stretch at hand */
};

struct work {
    struct scan *scan;
    const struct view_part *part;
    uint32_t number; /* of the part */
    struct list *lists;
    size_t list_capacity;
    struct scan_word *words; /* of the segment, those that bring least first */
    size_t word_count;
    double weight; /* of all words of the question */
    double slowness[LENGTHS], shortness[LENGTHS];
    /* Of each document in the stretch at hand: */
    double sums[STRETCH];
    double covered[STRETCH];
    float times[STRETCH]; /* of the word at hand */
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

static double slowness_of(const struct work *work, uint32_t length)
{
    return length < LENGTHS ? work->slowness[length]
                            : score_slowness(&work->scan->manner, length, false);
}

static double shortness_of(const struct work *work, uint32_t length)
{
    return length < LENGTHS ? work->shortness[length]
                            : score_text(&work->scan->manner, 1, 1, 1, length);
}

/* The most that a word brings to documents that are not shorter and hold it no more often. */
static double most_of(const struct work *work, double weight, double times, uint32_t length)
{
    double most =
        times < UINT32_MAX ? score_word(weight, times, slowness_of(work, length)) : weight;
    double shortness = shortness_of(work, length > 0 ? length : 1);
    return most * (length > 0 || shortness > 1 ? shortness : 1);
}

static double bound_of(const struct work *work, double weight, const struct list *list,
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

static bool is_short(const struct list *list)
{
    return list->cursor.list.count < POSTINGS_BLOCK;
}

/* Bounds a list as a whole, at its start. */
static double bound_list(struct work *work, double weight, struct list *list)
{
    const struct segment *segment = &work->part->segment;
    double most = 0;
    for (uint32_t i = 0; i < list->cursor.block_count && !is_short(list); i++) {
        struct postings_bound bound;
        postings_block_bound(&list->cursor, i, &bound);
        double here = bound_of(work, weight, list, &bound);
        most = here > most ? here : most;
    }
    for (uint32_t i = 0; i < list->cursor.filled && is_short(list); i++) {
        uint32_t document = list->cursor.documents[i];
        uint32_t first;
        uint32_t passages;
        (void)segment_passages(segment, document, &first, &passages);
        double times =
            passages > 0 ? UINT32_MAX : (double)list->cursor.all_times[i] * list->term->weight;
        double here = most_of(work, weight, times, segment->lengths[document]);
        most = here > most ? here : most;
    }
    list->bound = most;
    return most;
}

/* Bounds a list between two documents. */
static double bound_between(const struct work *work, double weight, struct list *list,
                            uint32_t start, uint32_t end)
{
    struct postings_cursor *cursor = &list->cursor;
    if (is_short(list)) {
        postings_seek(cursor, start);
        return cursor->document < end ? list->bound : 0;
    }
    while (list->block < cursor->block_count && postings_block_last(cursor, list->block) < start) {
        list->block++;
    }
    double most = 0;
    for (uint32_t i = list->block; i < cursor->block_count; i++) {
        struct postings_bound bound;
        postings_block_bound(cursor, i, &bound);
        double here = bound_of(work, weight, list, &bound);
        most = here > most ? here : most;
        if (postings_block_last(cursor, i) >= end - 1) {
            break;
        }
    }
    return most;
}

/* What these sums make of a document at most: `covered` is the weight of the words it may hold. */
static double highest(const struct work *work, double sum, double covered)
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
static void open_word(struct work *work, const struct question_word *from, double weight,
                      struct list *lists)
{
    const struct segment *segment = &work->part->segment;
    struct scan_word *word = &work->words[work->word_count];
    *word = (struct scan_word){
        .lists = lists, .weight = weight, .leads = !from->stop || work->scan->question->only_stops};
    for (size_t i = 0; i < from->count; i++) {
        const struct view_term *term = &from->terms[i].found;
        if (term->lists[work->number].count == 0) {
            continue;
        }
        struct list *list = &word->lists[word->list_count++];
        list->term = &from->terms[i];
        list->block = 0;
        postings_start(&list->cursor, &term->lists[work->number], segment->documents);
        postings_start(&list->passages, &term->passages[work->number], segment->passage_count);
        word->whole += bound_list(work, weight, list);
    }
    work->word_count += word->list_count > 0;
}

static void open_words(struct work *work)
{
    const struct question *question = work->scan->question;
    struct list *lists = work->lists;
    work->word_count = 0;
    for (size_t i = 0; i < question->count; i++) {
        open_word(work, &question->words[i], work->scan->weights[i], lists);
        lists += question->words[i].count;
    }
    qsort(work->words, work->word_count, sizeof *work->words, by_whole);
}

/* ---- scores ---- */

static bool counts_in(const struct work *work, const struct list *list, uint32_t document)
{
    return !list->term->only_compound ||
           words_compound(segment_language(&work->part->segment, document));
}

static void add_score(struct work *work, const struct scan_word *word, uint32_t document,
                      uint32_t slot, double times)
{
    uint32_t length = work->part->segment.lengths[document];
    work->sums[slot] += score_word(word->weight, times, slowness_of(work, length));
    work->covered[slot] += word->weight * (times < 1 ? times : 1);
}

/* Gives the word's part to each document of the stretch that holds it. */
static void lead(struct work *work, struct scan_word *word, uint32_t start, uint32_t end)
{
    uint64_t held[STRETCH / 64] = {0};
    for (size_t i = 0; i < word->list_count; i++) {
        struct list *list = &word->lists[i];
        struct postings_cursor *cursor = &list->cursor;
        postings_seek(cursor, start);
        while (cursor->document < end) {
            uint32_t slot = cursor->document - start;
            if (counts_in(work, list, cursor->document)) {
                held[slot / 64] |= UINT64_C(1) << slot % 64;
                work->times[slot] += (float)cursor->times * list->term->weight;
            }
            postings_next(cursor);
        }
    }
    for (uint32_t i = 0; i < STRETCH / 64; i++) {
        work->marked[i] |= held[i];
        for (uint64_t left = held[i]; left; left &= left - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(left);
            add_score(work, word, start + slot, slot, work->times[slot]);
            work->times[slot] = 0;
        }
    }
}

/* How often a document holds the word, which none before it was asked for. */
static double times_in(struct work *work, struct scan_word *word, uint32_t document)
{
    float times = 0;
    for (size_t i = 0; i < word->list_count; i++) {
        struct list *list = &word->lists[i];
        postings_seek(&list->cursor, document);
        if (list->cursor.document == document && counts_in(work, list, document)) {
            times += (float)list->cursor.times * list->term->weight;
        }
    }
    return times;
}

/* Adds the word's part to the passages of a document, of which the first has this number. */
static void score_passages(struct work *work, struct scan_word *word, uint32_t document,
                           uint32_t first, const uint32_t *lengths, uint32_t count, float *times)
{
    memset(times, 0, count * sizeof *times);
    for (size_t i = 0; i < word->list_count; i++) {
        struct postings_cursor *cursor = &word->lists[i].passages;
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
static int best_passage(struct work *work, uint32_t document, double *best)
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
static int keep(struct work *work, uint32_t document, uint32_t slot)
{
    struct scan *scan = work->scan;
    double best = work->sums[slot];
    int status = best_passage(work, document, &best);
    struct scan_hit hit = {
        .part = work->number,
        .document = document,
        .id = work->part->segment.ids[document],
        .score = (float)score_text(&scan->manner, work->sums[slot], best,
                                   work->covered[slot] / work->weight,
                                   work->part->segment.lengths[document]),
        .covered = (float)(work->covered[slot] / work->weight),
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

/* Looks the words up that did not lead here, and keeps the document unless it turns out not to be
 * good enough. */
static int look_up(struct work *work, uint32_t document, uint32_t slot, size_t inessential,
                   const double *bounds, const double *weights)
{
    const struct segment *segment = &work->part->segment;
    double least = least_score(work->scan);
    double shortness = shortness_of(work, segment->lengths[document]);
    bool one_passage = segment->passage_starts[document] == segment->passage_starts[document + 1];
    for (size_t i = inessential;; i--) {
        if (one_passage && highest(work, work->sums[slot] * shortness + bounds[i],
                                   work->covered[slot] + weights[i]) < least) {
            return OK;
        }
        if (i == 0) {
            return keep(work, document, slot);
        }
        struct scan_word *word = &work->words[i - 1];
        double times = word->bound > 0 ? times_in(work, word, document) : 0;
        if (times > 0) {
            add_score(work, word, document, slot, times);
        }
    }
}

static int scan_stretch(struct work *work, uint32_t start, uint32_t end, double *bounds,
                        double *weights)
{
    double least = least_score(work->scan);
    size_t inessential = 0;
    bool essential = true;
    /* bounds[i]: what the first i words bring together; weights[i]: how much of the question. */
    for (size_t i = 0; i < work->word_count; i++) {
        struct scan_word *word = &work->words[i];
        word->bound = 0;
        for (size_t j = 0; j < word->list_count; j++) {
            word->bound += bound_between(work, word->weight, &word->lists[j], start, end);
        }
        bounds[i + 1] = bounds[i] + word->bound;
        weights[i + 1] = weights[i] + (word->bound > 0 ? word->weight : 0);
        essential = word->leads && highest(work, bounds[i + 1], weights[i + 1]) >= least;
        inessential = !essential ? i + 1 : inessential;
    }
    if (inessential == work->word_count) {
        return OK;
    }
    for (size_t i = inessential; i < work->word_count; i++) {
        lead(work, &work->words[i], start, end);
    }
    int status = OK;
    for (uint32_t i = 0; i < STRETCH / 64; i++) {
        for (uint64_t left = work->marked[i]; left; left &= left - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(left);
            if (status == OK && !view_is_dead(work->part, start + slot)) {
                status = look_up(work, start + slot, slot, inessential, bounds, weights);
            }
            work->sums[slot] = 0;
            work->covered[slot] = 0;
        }
        work->marked[i] = 0;
    }
    return status;
}

/* ---- everything ---- */

static int scan_part(struct work *work, double *bounds, double *weights)
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

static int start_work(struct work *work, struct scan *scan)
{
    size_t lists = 0;
    work->scan = scan;
    for (size_t i = 0; i < scan->question->count; i++) {
        lists += scan->question->words[i].count;
        work->weight += scan->weights[i];
    }
    work->weight = work->weight > 0 ? work->weight : 1;
    work->lists = malloc((lists + 1) * sizeof *work->lists);
    work->words = malloc((scan->question->count + 1) * sizeof *work->words);
    for (uint32_t i = 0; i < LENGTHS; i++) {
        work->slowness[i] = score_slowness(&scan->manner, i, false);
        work->shortness[i] = score_text(&scan->manner, 1, 1, 1, i);
    }
    return work->lists && work->words ? OK : ERR_NOMEM;
}

int scan_run(struct scan *scan)
{
    struct work *work = calloc(1, sizeof *work);
    double *bounds = calloc(2 * (scan->question->count + 1), sizeof *bounds);
    int status = work && bounds ? start_work(work, scan) : ERR_NOMEM;
    for (uint32_t i = 0; i < scan->view->count && status == OK; i++) {
        work->part = &scan->view->parts[i];
        work->number = i;
        status = scan_part(work, bounds, bounds + scan->question->count + 1);
    }
    if (work) {
        free(work->lists);
        free(work->words);
        free(work->passage_sums);
    }
    free(work);
    free(bounds);
    return status;
}
