/* Searching: the index finds and ranks, the store has the texts. */
#include "call/errors.h"
#include "call/parts.h"
#include "core/clock.h"
#include "core/limits.h"
#include "index/fulltext.h"
#include "index/fuse.h"
#include "meaning/meaning.h"
#include "memory/excerpt.h"
#include "memory/memories.h"
#include "memory/phrase.h"

#include <string.h>

#define NOTE_TEXTS    2 /* text and summary, the first of texts_of() */
#define RETRY_AFTER_S 5 /* that a search with a large index takes */
#define MOST_TRIES    2 /* when a file of the index is damaged under a search */

#define PHRASE_LOOKS     10   /* texts that are looked into for the question as it stands */
#define PHRASE_SHARE     0.99 /* of the question's words, that they hold */
#define PHRASE_RELEVANCE 0.97 /* at least, of those that hold it */

struct memory_searching {
    struct call *call;
    struct db *db;
    struct word_reader *reader;
    int64_t space;
    struct index_filter filter;
    struct excerpt_terms wanted;
    bool marked;
    const char *lacks; /* why something may not have been found; NULL: all is searched */
    struct memory_hit *hits;
    size_t count;
};

static struct index_filter narrowed(const struct memory_filter *filter)
{
    return (struct index_filter){
        .tags = filter->tags,
        .tag_count = filter->tag_count,
        .from_ms = filter->from_ms,
        .until_ms = filter->until_ms,
        .session = filter->session,
        .role = filter->role,
        .now_ms = clock_wall_ms(),
    };
}

static int start(struct memory_searching *searching, struct call *call,
                 const struct memory_filter *filter, size_t limit)
{
    *searching = (struct memory_searching){.call = call, .filter = narrowed(filter)};
    searching->reader = readers_borrow(call_parts(call)->memories->readers);
    searching->filter.reader = searching->reader;
    searching->hits = arena_alloc(call_arena(call), (limit + 1) * sizeof *searching->hits);
    return searching->reader && searching->hits ? memories_borrow(call, &searching->db) : ERR_NOMEM;
}

/* Says how far the index is that the search uses, where a thread still makes it. */
static int tell_missing(struct memory_searching *searching, const struct space_index *index)
{
    size_t indexed = index ? index_count(indexes_of(index)) : 0;
    int64_t missing = index ? indexes_missing(index) : 0;
    searching->lacks = NULL;
    if (missing == 0) {
        return OK;
    }
    searching->lacks =
        arena_printf(call_arena(searching->call),
                     "not complete: the index of this namespace is being made, and has %zu of %lld "
                     "memories so far; search again later",
                     indexed, (long long)indexed + (long long)missing);
    return searching->lacks ? OK : ERR_NOMEM;
}

static int finish(struct memory_searching *searching, int status)
{
    status = memories_return(searching->call, searching->db, status);
    readers_return(call_parts(searching->call)->memories->readers, searching->reader);
    return status;
}

/* The index of the space; NULL where the space is empty. */
static int acquire(struct memory_searching *searching, const struct memory_space *space,
                   const char *model, struct space_index **index)
{
    struct indexes *indexes = call_parts(searching->call)->memories->indexes;
    int status = indexes_acquire(indexes, searching->db, space, model, index);
    if (status == ERR_LIMIT) {
        call_fail(searching->call, CODE_BUSY,
                  "the index of this namespace needs more memory than there is for indexes "
                  "(FORAGE_MEMORY_INDEXES), and another search has the one place beside it; try "
                  "again in some seconds");
        call_fail_retry_after(searching->call, RETRY_AFTER_S);
        return ERR_FAILED;
    }
    if (status == OK && *index) {
        searching->space = indexes_space(*index);
    }
    return status;
}

/* Lets go of the index. A file of it may have been damaged under the search, which is then
 * repeated, on one that is made anew. Whether it is done. */
static bool is_done(const struct memory_searching *searching, struct space_index *index, int tries,
                    int *status)
{
    bool sound = !index || indexes_sound(index);
    indexes_release(index);
    if (!sound) {
        *status = tries < MOST_TRIES ? OK
                                     : call_fail(searching->call, CODE_PROVIDER,
                                                 "the files of the memory index were damaged while "
                                                 "they were read; try again");
    }
    return sound;
}

/* The row of a hit, unless it has gone since. */
static int fetch(struct memory_searching *searching, struct arena *arena, int64_t id,
                 struct store_row *row, bool *there)
{
    int status = store_by_id(searching->db, arena, searching->space, id, row);
    *there = status == OK;
    return status == ERR_NOTFOUND ? OK : status;
}

/* The texts of a memory in which words are looked for, in the order in which they were indexed. */
static size_t texts_of(const struct memory *memory, const char **texts)
{
    size_t count = 0;
    texts[count++] = memory->text;
    texts[count++] = memory->summary;
    for (size_t i = 0; i < memory->tag_count && i < LIMIT_MEMORY_TAGS; i++) {
        texts[count++] = memory->tags[i];
    }
    return count;
}

/* The texts that an excerpt is cut from: a ranked hit shows the note, also where a tag found it; in
 * a full-text one the words that were asked for are marked wherever they are. */
static size_t shown_texts(const struct memory_searching *searching, const struct memory *memory,
                          const char **texts)
{
    size_t count = texts_of(memory, texts);
    return searching->marked ? count : NOTE_TEXTS;
}

static const char *const FIRST_BY[] = {
    [INDEX_RANKED] = NULL, [INDEX_PHRASE] = "phrase", [INDEX_KEY] = "key"};

/* The hit with its text; nothing where the memory has gone since. */
static int add_hit(struct memory_searching *searching, const struct index_hit *hit)
{
    struct store_row row;
    bool there;
    int status = fetch(searching, call_arena(searching->call), hit->id, &row, &there);
    if (status != OK || !there) {
        return status;
    }
    store_mark(call_arena(searching->call), &row);
    const struct memory *memory = &row.memory;
    const char *texts[LIMIT_MEMORY_TAGS + 2];
    size_t count = shown_texts(searching, memory, texts);
    struct memory_hit *to = &searching->hits[searching->count++];
    *to = (struct memory_hit){
        .key = memory->key,
        .summary = memory->summary,
        .excerpt = excerpt_make(call_arena(searching->call), searching->reader, texts, count,
                                &searching->wanted, searching->marked),
        .relevance = hit->relevance,
        .score = hit->score,
        .parts = {.words = hit->parts.words,
                  .neighbours = hit->parts.neighbours,
                  .session = hit->parts.session,
                  .meaning = hit->parts.meaning,
                  .share = hit->parts.share,
                  .cosine = hit->parts.cosine,
                  .first_by = FIRST_BY[hit->precedence]},
        .created_ms = memory->created_ms,
        .session = memory->session,
        .role = memory->role,
        .tags = memory->tags,
        .tag_count = memory->tag_count,
        .damage = memory->damage,
    };
    return to->excerpt ? OK : ERR_NOMEM;
}

/* `more`: not everything was counted. */
static void answer(const struct memory_searching *searching, size_t total, bool more,
                   struct memory_hits *hits)
{
    bool beyond = total > LIMIT_MEMORY_EXACT_TOTAL;
    *hits = (struct memory_hits){
        .items = searching->hits,
        .count = searching->count,
        .total = beyond ? LIMIT_MEMORY_EXACT_TOTAL : total,
        .total_is_lower_bound = beyond || more || searching->lacks,
        .note = searching->lacks,
    };
}

/* ---- ranked ---- */

/* The question as a vector, of one model. */
struct meant {
    const char *model; /* NULL: there is none */
    int64_t until_ms;  /* an endpoint is waited for, whatever models it is asked for */
    struct meaning_vectors vector;
    char problem[MEANING_PROBLEM_SIZE]; /* why there is no vector; "": there is one */
};

/* Asks for it; a model that does not answer is no failure of the search. */
static int find_meaning(struct call *call, const char *model, const char *query,
                        struct meant *meant)
{
    *meant = (struct meant){.model = model, .until_ms = meant->until_ms};
    if (!model) {
        return OK;
    }
    int status = meaning_of_query(call, model, query, meant->until_ms, &meant->vector,
                                  meant->problem, sizeof meant->problem);
    return status == ERR_IO || status == ERR_INVALID ? OK : status;
}

static bool passes(const void *context, int64_t id)
{
    return index_passes(context, id);
}

/* Whether a memory holds the question as it stands, or its key is made of the same words. */
static int holds(struct memory_searching *searching, const struct phrase *phrase, int64_t id,
                 struct arena *scratch, bool *held)
{
    struct store_row row;
    int status = fetch(searching, scratch, id, &row, held);
    if (status == OK && *held) {
        const struct memory *memory = &row.memory;
        status = phrase_find(phrase, searching->reader, memory->text, false, held);
        if (status == OK && !*held) {
            status = phrase_find(phrase, searching->reader, memory->summary, false, held);
        }
        if (status == OK && !*held) {
            status = phrase_find(phrase, searching->reader, memory->key, true, held);
        }
    }
    arena_reset(scratch);
    return status;
}

/* What holds the question as it stands comes before what only has its words. It is looked for among
 * so many of the best, on whichever page they are: every page must have the same order. */
static int find_phrase(struct memory_searching *searching, const char *query, size_t within,
                       struct index_found *found)
{
    struct phrase phrase;
    int status = phrase_read(&phrase, searching->reader, call_arena(searching->call), query);
    if (status != OK || !phrase.words) {
        return status;
    }
    struct arena *scratch = arena_new(LIMIT_CALL_ARENA_BYTES);
    status = scratch ? OK : ERR_NOMEM;
    size_t looks = 0;
    size_t count = found->count < within ? found->count : within;
    for (size_t i = 0; i < count && looks < PHRASE_LOOKS && status == OK; i++) {
        struct index_hit *hit = &found->hits[i];
        bool held = false;
        if (hit->precedence == INDEX_RANKED && hit->parts.share >= PHRASE_SHARE) {
            looks++;
            status = holds(searching, &phrase, hit->id, scratch, &held);
        }
        if (held) {
            hit->precedence = INDEX_PHRASE;
            hit->relevance = hit->relevance > PHRASE_RELEVANCE ? hit->relevance : PHRASE_RELEVANCE;
        }
    }
    arena_free(scratch);
    index_order(found->hits, found->count);
    return status;
}

/* Cuts the page that is wanted out of all that was found. */
static void cut_page(struct index_found *found, size_t limit, size_t offset)
{
    size_t skipped = offset < found->count ? offset : found->count;
    if (skipped > 0) { /* nothing found is NULL, which has no place behind it */
        found->hits += skipped;
        found->count -= skipped;
    }
    found->count = found->count < limit ? found->count : limit;
}

/* By words, and by vectors where there are some of the question's model. `least` is how many of the
 * best are ranked at least, whatever page is wanted. */
static int rank(struct memory_searching *searching, const struct space_index *index,
                const char *query, struct meant *meant, size_t limit, size_t offset, size_t *least,
                struct index_found *found)
{
    struct arena *arena = call_arena(searching->call);
    const char *model;
    const struct vectors *vectors = indexes_vectors(index, &model);
    bool joins = vectors && meant->model && !*meant->problem &&
                 vectors_dimensions(vectors) == meant->vector.dimensions;
    *least = joins ? FUSE_CANDIDATES : PHRASE_LOOKS;
    size_t most = limit + offset > *least ? limit + offset : *least;
    int status = index_search(indexes_of(index), arena, query, &searching->filter, most, 0, found);
    if (status == OK && joins) {
        const struct index_sieve *sieve = index_sieve(indexes_of(index), arena, &searching->filter);
        status = sieve ? fuse_hits(arena, vectors, meant->vector.numbers, passes, sieve, found)
                       : ERR_NOMEM;
    }
    return status;
}

/* The index, and the question's vector by the model that the space's vectors are of: while those of
 * another model are made, the old ones serve. */
static int acquire_meant(struct memory_searching *searching, const struct memory_space *space,
                         const char *query, struct meant *meant, struct space_index **index)
{
    const char *wanted = meant->model;
    const char *model = NULL;
    int status = acquire(searching, space, wanted, index);
    if (status != OK || !*index || !wanted || !indexes_vectors(*index, &model) ||
        strcmp(model, wanted) == 0) {
        return status;
    }
    model = arena_strdup(call_arena(searching->call), model);
    indexes_release(*index); /* asking may take a while */
    *index = NULL;
    status = model ? find_meaning(searching->call, model, query, meant) : ERR_NOMEM;
    return status == OK ? acquire(searching, space, wanted, index) : status;
}

static void tell_ranking(const struct memory_searching *searching, const struct meant *meant,
                         const struct space_index *index, struct memory_hits *hits)
{
    const char *model = NULL;
    const struct vectors *vectors = index ? indexes_vectors(index, &model) : NULL;
    if (!meant->model) {
        return;
    }
    bool same = vectors && vectors_dimensions(vectors) == meant->vector.dimensions;
    hits->note = *meant->problem ? arena_strdup(call_arena(searching->call), meant->problem)
                 : same          ? NULL
                 : vectors && vectors_dimensions(vectors) > 0
                     ? "the model's vectors have another length than those that are stored"
                 : index && indexes_missing(index) > 0 ? "meaning takes part once it is made"
                                                       : "no vectors have been made yet";
    hits->ranked_by = hits->note ? "words" : "words and meaning";
}

/* Who asks for a key means that memory. */
static int find_key(struct memory_searching *searching, const char *query)
{
    struct store_row row;
    if (strlen(query) > LIMIT_MEMORY_KEY_BYTES) {
        return OK;
    }
    int status =
        store_get(searching->db, call_arena(searching->call), searching->space, query, &row);
    searching->filter.first = status == OK ? row.id : 0;
    return status == ERR_NOTFOUND ? OK : status;
}

int memory_search(struct call *call, const struct memory_space *space, const char *query,
                  const struct memory_filter *filter, size_t limit, size_t offset,
                  struct memory_hits *hits)
{
    struct memory_searching searching;
    struct space_index *index = NULL;
    struct index_found found = {0};
    size_t least = 0;
    struct meant meant = {.until_ms = clock_now_ms() + TIME_MEANING_QUERY_MS};
    struct memory_hits told = {0};
    int status = find_meaning(call, meaning_model(call_parts(call)->meaning), query, &meant);
    if (status != OK) {
        return status;
    }
    status = start(&searching, call, filter, limit);
    bool done = false;
    for (int i = 1; status == OK && !done; i++) {
        status = acquire_meant(&searching, space, query, &meant, &index);
        if (status == OK && index) {
            status = find_key(&searching, query);
        }
        if (status == OK && index) {
            status = rank(&searching, index, query, &meant, limit, offset, &least, &found);
        }
        status = status == OK ? tell_missing(&searching, index) : status;
        tell_ranking(&searching, &meant, index, &told);
        done = is_done(&searching, index, i, &status);
    }
    embedder_wake(call_parts(call)->memories->embedder);
    status = status == OK ? find_phrase(&searching, query, least, &found) : status;
    cut_page(&found, limit, offset);
    searching.wanted = (struct excerpt_terms){.terms = found.terms, .term_count = found.term_count};
    for (size_t i = 0; i < found.count && status == OK; i++) {
        status = add_hit(&searching, &found.hits[i]);
    }
    answer(&searching, found.total, found.more, hits);
    hits->ranked_by = told.ranked_by;
    if (told.note) {
        hits->note = hits->note ? arena_printf(call_arena(call), "%s; %s", hits->note, told.note)
                                : told.note;
    }
    return finish(&searching, status);
}

/* ---- full text ---- */

/* Every term and prefix that is asked for, to be marked. */
static int collect_wanted(struct memory_searching *searching, const struct fulltext *question)
{
    struct arena *arena = call_arena(searching->call);
    size_t terms = 0;
    size_t words = 0;
    for (size_t i = 0; i < question->count; i++) {
        words += question->clauses[i].word_count;
        for (size_t j = 0; j < question->clauses[i].word_count; j++) {
            terms += question->clauses[i].words[j].term_count;
        }
    }
    const char **texts = arena_alloc(arena, (terms + 1) * sizeof *texts);
    const char **prefixes = arena_alloc(arena, (words + 1) * sizeof *prefixes);
    if (!texts || !prefixes) {
        return ERR_NOMEM;
    }
    searching->wanted = (struct excerpt_terms){.terms = texts, .prefixes = prefixes};
    for (size_t i = 0; i < question->count; i++) {
        const struct fulltext_clause *clause = &question->clauses[i];
        for (size_t j = 0; j < clause->word_count && !clause->excluded; j++) {
            const struct fulltext_word *word = &clause->words[j];
            for (size_t k = 0; k < word->term_count; k++) {
                texts[searching->wanted.term_count++] = word->terms[k];
            }
            if (word->prefix) {
                prefixes[searching->wanted.prefix_count++] = word->prefix;
            }
        }
    }
    return OK;
}

/* Whether a candidate is really what was asked for. */
static int check(struct memory_searching *searching, const struct fulltext *question,
                 const struct index_hit *candidate, struct arena *scratch, bool *matches)
{
    const char *texts[LIMIT_MEMORY_TAGS + 2];
    struct store_row row;
    int status = fetch(searching, scratch, candidate->id, &row, matches);
    if (status == OK && *matches) {
        size_t count = texts_of(&row.memory, texts);
        status = fulltext_matches(question, searching->reader, scratch, texts, count, matches);
    }
    arena_reset(scratch);
    return status;
}

/* Every candidate is what was asked for: only those of the page are looked at. */
static int take_page(struct memory_searching *searching, const struct index_hit *candidates,
                     size_t count, size_t limit, size_t offset)
{
    int status = OK;
    for (size_t i = offset; i < count && i - offset < limit && status == OK; i++) {
        status = add_hit(searching, &candidates[i]);
    }
    return status;
}

/* Looks into the candidates, best first; those of the page are taken, all are counted. */
static int walk(struct memory_searching *searching, const struct fulltext *question,
                const struct index_hit *candidates, size_t count, size_t limit, size_t offset,
                size_t *total)
{
    struct arena *scratch = arena_new(LIMIT_CALL_ARENA_BYTES);
    int status = scratch ? OK : ERR_NOMEM;
    *total = 0;
    for (size_t i = 0; i < count && i < LIMIT_MEMORY_CANDIDATES && status == OK; i++) {
        bool matches = false;
        status = check(searching, question, &candidates[i], scratch, &matches);
        if (status == OK && matches && (*total)++ >= offset && searching->count < limit) {
            status = add_hit(searching, &candidates[i]);
        }
        status = status == OK ? call_check(searching->call) : status;
    }
    arena_free(scratch);
    return status;
}

int memory_fulltext(struct call *call, const struct memory_space *space,
                    const char *const *keywords, size_t keyword_count, enum memory_operator all,
                    const struct memory_filter *filter, size_t limit, size_t offset,
                    struct memory_hits *hits)
{
    struct memory_searching searching;
    struct fulltext question;
    struct space_index *index = NULL;
    struct index_hit *candidates = NULL;
    size_t count = 0;
    size_t total = 0;
    bool more = false;
    int status =
        fulltext_read(&question, call_arena(call), keywords, keyword_count, all == MEMORY_AND);
    if (status == ERR_INVALID) {
        return call_fail(call, CODE_VALIDATION,
                         "keywords holds no word to look for; give at least one that is not "
                         "excluded");
    }
    if (status != OK) {
        return status;
    }
    status = start(&searching, call, filter, limit);
    searching.marked = true;
    bool done = false;
    for (int i = 1; status == OK && !done; i++) {
        status = acquire(&searching, space, NULL, &index);
        if (status == OK && index) {
            status = index_fulltext(indexes_of(index), call_arena(call), &question,
                                    &searching.filter, &candidates, &count);
        }
        status = status == OK ? tell_missing(&searching, index) : status;
        done = is_done(&searching, index, i, &status);
    }
    if (status == OK) {
        status = collect_wanted(&searching, &question);
    }
    if (status == OK && question.in_the_text) {
        status = walk(&searching, &question, candidates, count, limit, offset, &total);
        more = count > LIMIT_MEMORY_CANDIDATES;
    } else if (status == OK) {
        status = take_page(&searching, candidates, count, limit, offset);
        total = count;
    }
    answer(&searching, total, more, hits);
    return finish(&searching, status);
}
