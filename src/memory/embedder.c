/* One thread finds memories without vectors, has them made, and writes them, a few at a time. What
 * it does is either written or will be found again, so that it may end anywhere. */
#include "memory/embedder.h"

#include "call/call.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/trouble.h"
#include "index/keys.h"
#include "index/passages.h"
#include "index/vectors.h"
#include "meaning/meaning.h"
#include "memory/embeddings.h"
#include "memory/memories.h"
#include "text/json.h"
#include "text/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NICENESS      19    /* of computing */
#define GATHER_MS     100   /* after something was written: more may come */
#define LOOK_MS       10000 /* between two looks at what other processes wrote */
#define FIRST_WAIT_MS 1000  /* after a failure; then twice that, and so on */
#define LAST_WAIT_MS  60000
#define LEASE_MS      10000   /* of a namespace, after which others may go on with it */
#define RENEW_MS      3000    /* while vectors of it are made */
#define HEADING_CHARS 200     /* of key and tags */
#define UNUSED_MS     3600000 /* after which vectors of another model may go */

static const char TROUBLE[] = "vectors of memories";

/* Some memories on their way: read, made, written. */
struct batch {
    struct arena *arena;
    int64_t embedding; /* that was claimed */
    struct embedding_task tasks[LIMIT_EMBEDDING_TASKS];
    struct embedding_row rows[LIMIT_EMBEDDING_TASKS];
    unsigned char *packed[LIMIT_EMBEDDING_TASKS]; /* their vectors */
    size_t count;
    struct slice *texts; /* their passages, */
    size_t *owners;      /* and which of them each is of */
    size_t text_count, text_capacity;
};

struct embedder {
    const struct parts *parts;
    char holder[ID_SECRET_SIZE];
    int64_t free_ms;      /* until a lease of others ends, as it last looked; 0: there is none */
    int64_t renewed_ms;   /* when its leases were, by the monotonic clock */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    pthread_t thread;
    bool started, stopping;
    bool woken;
    struct call *call; /* what it does now; NULL: nothing */
};

static void add_ms(struct timespec *moment, int64_t time_ms)
{
    moment->tv_sec += time_ms / 1000;
    moment->tv_nsec += time_ms % 1000 * 1000000;
    moment->tv_sec += moment->tv_nsec / 1000000000;
    moment->tv_nsec %= 1000000000;
}

/* ---- calls of its own ---- */

/* NULL when the embedder is to end, or without memory. */
static struct call *begin_call(struct embedder *embedder)
{
    struct call *call = call_new(&(struct call_options){.parts = embedder->parts});
    if (call) {
        call_book_for(call, "embeddings", NULL);
    }
    pthread_mutex_lock(&embedder->lock);
    if (embedder->stopping) {
        call = call_free(call);
    }
    embedder->call = call;
    pthread_mutex_unlock(&embedder->lock);
    return call;
}

static void end_call(struct embedder *embedder, struct call *call)
{
    pthread_mutex_lock(&embedder->lock);
    embedder->call = NULL;
    pthread_mutex_unlock(&embedder->lock);
    call_free(call);
}

/* ---- making vectors ---- */

/* Texts that one thread computes, at the lowest priority. */
struct thinking {
    struct embedder *embedder;
    bool is_over; /* guarded by the embedder's lock */
    struct call *call;
    const struct slice *texts;
    size_t count;
    struct meaning_vectors vectors;
    char problem[MEANING_PROBLEM_SIZE];
    int status;
};

static void *think(void *context)
{
    struct thinking *thinking = context;
    int lowered = nice(NICENESS); /* of this thread alone; where it cannot be, it need not be */
    (void)lowered;
    thinking->status =
        meaning_of_texts(thinking->call, thinking->texts, thinking->count, &thinking->vectors,
                         thinking->problem, sizeof thinking->problem);
    pthread_mutex_lock(&thinking->embedder->lock);
    thinking->is_over = true;
    pthread_cond_signal(&thinking->embedder->changed);
    pthread_mutex_unlock(&thinking->embedder->lock);
    return NULL;
}

/* Keeps what it works on from others for some more time. What fails is done twice at worst. */
static void renew(struct embedder *embedder)
{
    struct db *db = NULL;
    struct call *call =
        call_new(&(struct call_options){.parts = embedder->parts, .timeout_ms = RENEW_MS});
    if (call && memories_borrow(call, &db) == OK) {
        int status = embeddings_renew(db, embedder->holder, clock_wall_ms() + LEASE_MS);
        (void)memories_return(call, db, status);
    }
    call_free(call);
    embedder->renewed_ms = clock_now_ms();
}

/* Waits until it is over, and renews the leases meanwhile. */
static void wait_and_renew(const struct thinking *thinking)
{
    struct embedder *embedder = thinking->embedder;
    struct timespec until;
    pthread_mutex_lock(&embedder->lock);
    while (!thinking->is_over) {
        int64_t left_ms = embedder->renewed_ms + RENEW_MS - clock_now_ms();
        if (left_ms > 0) {
            clock_gettime(CLOCK_MONOTONIC, &until);
            add_ms(&until, left_ms);
            pthread_cond_timedwait(&embedder->changed, &embedder->lock, &until);
        } else {
            pthread_mutex_unlock(&embedder->lock);
            renew(embedder);
            pthread_mutex_lock(&embedder->lock);
        }
    }
    pthread_mutex_unlock(&embedder->lock);
}

static void report_trouble(const char *problem)
{
    if (trouble_begin(TROUBLE, "%s; memories are found by their words", problem)) {
        log_warn(NULL, "vectors of memories cannot be made: %s", problem);
    }
}

/* Packs the vector of a passage behind those that its memory has already. */
static int pack(struct batch *batch, size_t which, const float *numbers, size_t dimensions)
{
    struct embedding_row *row = &batch->rows[which];
    size_t size = VECTORS_PACKED(dimensions);
    if (row->length > 0 && row->dimensions != dimensions) {
        return ERR_IO;
    }
    unsigned char *packed =
        arena_realloc(batch->arena, batch->packed[which], row->length, row->length + size);
    if (!packed) {
        return ERR_NOMEM;
    }
    vectors_pack(numbers, dimensions, packed + row->length);
    batch->packed[which] = packed;
    row->vectors = packed;
    row->dimensions = dimensions;
    row->length += size;
    return OK;
}

/* Makes the vectors of some passages. One that is refused has none. */
static int make_some(struct embedder *embedder, struct batch *batch, size_t from, size_t count)
{
    struct thinking thinking = {.embedder = embedder,
                                .call = begin_call(embedder),
                                .texts = batch->texts + from,
                                .count = count};
    pthread_t thread;
    if (!thinking.call) {
        return ERR_CANCELLED;
    }
    int status = thread_start(&thread, 0, think, &thinking);
    if (status == OK) {
        wait_and_renew(&thinking);
        pthread_join(thread, NULL);
        status = thinking.status;
    }
    size_t dimensions = thinking.vectors.dimensions;
    for (size_t i = 0; i < count && status == OK; i++) {
        status = pack(batch, batch->owners[from + i], thinking.vectors.numbers + i * dimensions,
                      dimensions);
    }
    if (status == ERR_IO) {
        report_trouble(thinking.problem);
    }
    end_call(embedder, thinking.call);
    if (status == ERR_INVALID && count > 1) { /* which of them is it? */
        status = OK;
        for (size_t i = 0; i < count && status == OK; i++) {
            status = make_some(embedder, batch, from + i, 1);
        }
    }
    return status == ERR_INVALID ? OK : status;
}

static void put_key(struct buf *out, const char *key)
{
    size_t length = keys_speak(key) ? strlen(key) : 0;
    for (size_t at = 0; at < length;) {
        size_t size = keys_part(key + at);
        if (size > 0 && keys_word(key + at, size, true)) {
            buf_printf(out, "%s%.*s", out->length > 0 ? " " : "", (int)size, key + at);
        }
        at += size + 1;
    }
}

/* What stands before each passage of a memory: its key and its tags often say what it is about,
 * where the text does not. NULL without memory. */
static const char *heading(struct arena *arena, const struct embedding_task *task)
{
    struct buf out;
    size_t index, most;
    yyjson_val *tag;
    yyjson_val *tags =
        task->tags ? yyjson_doc_get_root(json_parse(arena, task->tags, strlen(task->tags), NULL))
                   : NULL;
    buf_init(&out, LIMIT_MEMORY_LINE_BYTES);
    put_key(&out, task->key);
    bool named = out.length > 0;
    yyjson_arr_foreach(tags, index, most, tag)
    {
        if (yyjson_is_str(tag)) {
            buf_printf(&out, "%s%s", index > 0 ? ", " : named ? " (" : "", yyjson_get_str(tag));
        }
    }
    if (out.length > 0) {
        out.length = text_prefix(out.data, out.length, HEADING_CHARS);
    }
    buf_puts(&out, named && yyjson_arr_size(tags) > 0 ? "): " : out.length > 0 ? ": " : "");
    return buf_to_arena(&out, arena);
}

/* Takes the memory's text apart into passages. */
static int cut(struct batch *batch, size_t which)
{
    const char *text = batch->tasks[which].text;
    const char *head = heading(batch->arena, &batch->tasks[which]);
    struct passages passages;
    struct passage passage;
    batch->rows[which] = (struct embedding_row){.id = batch->tasks[which].id, .vectors = ""};
    batch->packed[which] = NULL;
    passages_begin(&passages, text, strlen(text));
    while (head && passages_next(&passages, &passage)) {
        size_t capacity = batch->text_capacity;
        size_t same = capacity;
        batch->texts = arena_grow(batch->arena, batch->texts, batch->text_count, &capacity,
                                  sizeof *batch->texts);
        batch->owners = arena_grow(batch->arena, batch->owners, batch->text_count, &same,
                                   sizeof *batch->owners);
        const char *whole = arena_printf(batch->arena, "%s%.*s", head,
                                         (int)(passage.end - passage.start), text + passage.start);
        if (!batch->texts || !batch->owners || !whole) {
            return ERR_NOMEM;
        }
        batch->text_capacity = capacity;
        batch->owners[batch->text_count] = which;
        batch->texts[batch->text_count++] = (struct slice){whole, strlen(whole)};
    }
    return head ? OK : ERR_NOMEM;
}

/* Makes the vectors of all memories of a batch. After ERR_IO it has those that are made. */
static int make_all(struct embedder *embedder, struct batch *batch)
{
    int status = OK;
    batch->texts = NULL;
    batch->owners = NULL;
    batch->text_count = batch->text_capacity = 0;
    for (size_t i = 0; i < batch->count && status == OK; i++) {
        status = cut(batch, i);
    }
    for (size_t at = 0; at < batch->text_count && status == OK; at += LIMIT_MEANING_TEXTS) {
        size_t left = batch->text_count - at;
        status =
            make_some(embedder, batch, at, left < LIMIT_MEANING_TEXTS ? left : LIMIT_MEANING_TEXTS);
        batch->count = status == ERR_IO ? batch->owners[at] : batch->count;
    }
    if (status == OK && batch->count > 0 && trouble_end(TROUBLE)) {
        log_info(NULL, "vectors of memories can be made again");
    }
    return status;
}

/* ---- reading and writing ---- */

struct batch_exchange {
    struct embedder *embedder;
    struct batch *done; /* to be written */
    struct batch *next; /* to be read */
};

static int write_batch(const struct rules_work *work, const struct batch *batch)
{
    int status = OK;
    for (size_t i = 0; i < batch->count && status == OK; i++) {
        status = embeddings_put(work->db, work->space, batch->embedding, &batch->tasks[i],
                                &batch->rows[i]);
    }
    if (status == OK && batch->count > 0) {
        status = embeddings_advance(work->db, work->space, batch->embedding,
                                    batch->tasks[batch->count - 1].change);
    }
    return status;
}

/* Inside the transaction: writes what was made, and takes what is to be made next. */
static int apply_exchange(const struct rules_work *work, void *context)
{
    const struct batch_exchange *exchange = context;
    struct batch *next = exchange->next;
    const char *model = meaning_model(exchange->embedder->parts->meaning);
    int64_t now_ms = clock_wall_ms();
    bool ours;
    next->count = 0;
    arena_reset(next->arena);
    if (work->space->id == 0) {
        return OK;
    }
    int status = write_batch(work, exchange->done);
    if (status == OK) {
        status = embeddings_claim(work->db, work->space->id, model, exchange->embedder->holder,
                                  now_ms, now_ms + LEASE_MS, &next->embedding, &ours);
    }
    if (status == OK && ours) {
        status = embeddings_tasks(work->db, next->arena, work->space->id, next->embedding,
                                  LIMIT_EMBEDDING_TASKS, LIMIT_EMBEDDING_BYTES, next->tasks,
                                  &next->count);
    }
    if (status == OK && ours && next->count == 0) {
        status = embeddings_advance(work->db, work->space, next->embedding, work->space->change);
    }
    return status;
}

static int exchange_batches(struct embedder *embedder, const struct memory_space *space,
                            struct batch *done, struct batch *next)
{
    struct batch_exchange exchange = {embedder, done, next};
    struct call *call = begin_call(embedder);
    if (!call) {
        return ERR_CANCELLED;
    }
    struct memories_job job = {
        .call = call,
        .space = space,
        .apply = apply_exchange,
        .context = &exchange,
        .unhurried = true,
    };
    int status = memories_write(&job);
    end_call(embedder, call);
    embedder->renewed_ms = status == OK ? clock_now_ms() : embedder->renewed_ms;
    return status;
}

/* All memories of a space; false in `found`: there were none. */
static int work_on(struct embedder *embedder, const struct memory_space *space,
                   struct batch batches[2], bool *found)
{
    size_t now = 0;
    batches[0].count = batches[1].count = 0;
    int status = exchange_batches(embedder, space, &batches[1], &batches[0]);
    *found = status == OK && batches[0].count > 0;
    while (status == OK && batches[now].count > 0) {
        struct batch *batch = &batches[now];
        status = make_all(embedder, batch);
        if (status == OK || status == ERR_IO) { /* what was made is written, the rest tried again */
            int written = exchange_batches(embedder, space, batch, &batches[!now]);
            status = written == OK ? status : written;
            now = !now;
        }
    }
    return status;
}

/* Looks once for work. */
static int look(struct embedder *embedder, struct arena *arena, const char *model,
                struct memory_space *space, bool *found)
{
    struct db *db = NULL;
    struct call *call = begin_call(embedder);
    *found = false;
    if (!call) {
        return ERR_CANCELLED;
    }
    int64_t now_ms = clock_wall_ms();
    int status = memories_borrow(call, &db);
    if (status == OK) {
        status = embeddings_find_work(db, arena, model, embedder->holder, now_ms, space, found,
                                      &embedder->free_ms);
        embedder->free_ms -= embedder->free_ms > 0 ? now_ms : 0;
    }
    bool more = status == OK && !*found;
    while (status == OK && more) {
        status = db_begin(db, false);
        status = status == OK ? embeddings_forget(db, model, now_ms, UNUSED_MS, &more) : status;
        status = status == OK ? db_commit(db) : status;
    }
    status = memories_return(call, db, status);
    end_call(embedder, call);
    return status;
}

/* OK when there is nothing left to do. */
static int work(struct embedder *embedder, struct batch batches[2])
{
    struct arena *arena = arena_new(LIMIT_MEMORY_ROW_BYTES);
    const char *model = meaning_model(embedder->parts->meaning);
    bool found = arena && model;
    int status = arena ? OK : ERR_NOMEM;
    /* A store that says again and again that there is something, and has nothing, is left alone. */
    for (size_t vain = 0; status == OK && found && vain < LIMIT_MEMORY_NAMESPACES;) {
        struct memory_space space;
        bool some = false;
        status = look(embedder, arena, model, &space, &found);
        if (status == OK && found) {
            status = work_on(embedder, &space, batches, &some);
        }
        vain = some ? 0 : vain + 1;
        arena_reset(arena);
    }
    arena_free(arena);
    return status;
}

/* ---- the thread ---- */

/* Waits for so long, or until there is something to do; false: it is time to end. */
static bool wait_for_work(struct embedder *embedder, int64_t time_ms, bool may_wake)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    add_ms(&until, time_ms);
    int error = 0;
    pthread_mutex_lock(&embedder->lock);
    while (!embedder->stopping && !(may_wake && embedder->woken) && error == 0) {
        error = pthread_cond_timedwait(&embedder->changed, &embedder->lock, &until);
    }
    embedder->woken = embedder->woken && !may_wake;
    bool goes_on = !embedder->stopping;
    pthread_mutex_unlock(&embedder->lock);
    return goes_on;
}

/* Gives its leases back, so that another process need not wait for their end. */
static void release(struct embedder *embedder)
{
    struct db *db = NULL;
    struct call *call =
        call_new(&(struct call_options){.parts = embedder->parts, .timeout_ms = GATHER_MS});
    if (call && memories_borrow(call, &db) == OK) {
        (void)memories_return(call, db, embeddings_release(db, embedder->holder));
    }
    call_free(call);
}

static void *run(void *context)
{
    struct embedder *embedder = context;
    struct batch *batches = calloc(2, sizeof *batches);
    bool ready = batches && (batches[0].arena = arena_new(LIMIT_CALL_ARENA_BYTES)) &&
                 (batches[1].arena = arena_new(LIMIT_CALL_ARENA_BYTES));
    int64_t pause_ms = 0;
    bool goes_on = ready;
    while (goes_on && wait_for_work(embedder, GATHER_MS, false)) {
        int status = work(embedder, batches);
        pause_ms = status == OK ? 0 : pause_ms ? 2 * pause_ms : FIRST_WAIT_MS;
        pause_ms = pause_ms > LAST_WAIT_MS ? LAST_WAIT_MS : pause_ms;
        int64_t look_ms =
            embedder->free_ms > 0 && embedder->free_ms < LOOK_MS ? embedder->free_ms : LOOK_MS;
        goes_on = wait_for_work(embedder, pause_ms ? pause_ms : look_ms, pause_ms == 0);
    }
    if (ready) {
        release(embedder);
    }
    if (batches) {
        arena_free(batches[0].arena);
        arena_free(batches[1].arena);
    }
    free(batches);
    return NULL;
}

void embedder_wake(struct embedder *embedder)
{
    if (!embedder || !meaning_is_there(embedder->parts->meaning)) {
        return;
    }
    pthread_mutex_lock(&embedder->lock);
    if (!embedder->started && !embedder->stopping) {
        embedder->started = thread_start(&embedder->thread, 0, run, embedder) == OK;
    }
    embedder->woken = true;
    pthread_cond_signal(&embedder->changed);
    pthread_mutex_unlock(&embedder->lock);
}

/* ---- its life ---- */

struct embedder *embedder_new(const struct parts *parts)
{
    struct embedder *embedder = calloc(1, sizeof *embedder);
    if (!embedder || id_make_secret(embedder->holder) != OK) {
        free(embedder);
        return NULL;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&embedder->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&embedder->lock, NULL);
    embedder->parts = parts;
    return embedder;
}

struct embedder *embedder_free(struct embedder *embedder)
{
    if (embedder) {
        pthread_mutex_lock(&embedder->lock);
        embedder->stopping = true;
        if (embedder->call) {
            call_cancel(embedder->call);
        }
        pthread_cond_signal(&embedder->changed);
        bool started = embedder->started;
        pthread_mutex_unlock(&embedder->lock);
        if (started) {
            pthread_join(embedder->thread, NULL);
        }
        pthread_mutex_destroy(&embedder->lock);
        pthread_cond_destroy(&embedder->changed);
        free(embedder);
    }
    return NULL;
}
