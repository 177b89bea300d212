/* Answers whose bytes are kept: lists, and what the server says of itself. Clients ask for them in
 * every conversation, and what they hold depends on few things, which make a key. The result for
 * each key is made once; later answers write only their id anew. Nothing in it depends on the
 * caller, so whoever asks may get it. */
#include "core/redact.h"
#include "mcp/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum client_bits { SPEAKS_MODERN = 1, KNOWS_TASKS = 2, KNOWS_APPS = 4, KNOWS_SKILLS = 8 };

static unsigned describe_client(const struct mcp_work *work)
{
    return (work->modern ? SPEAKS_MODERN : 0u) | (tasks_known(work) ? KNOWS_TASKS : 0u) |
           (apps_known(work) ? KNOWS_APPS : 0u) | (skills_known(work) ? KNOWS_SKILLS : 0u);
}

/* What the answer to a request depends on. False where that answer is not kept: no list has named
 * the page that it asks for. */
static bool find_key(const struct mcp_work *work, struct list_key *key)
{
    const struct mcp_options *options = &work->mcp->options;
    *key = (struct list_key){
        .method = work->method,
        .client = describe_client(work),
        .changes = atomic_load(&work->mcp->changes),
        .secrets = redact_version(),
    };
    static_assert(MOST_TOOLS <= 64, "a tool has a bit of its own");
    for (size_t i = 0; i < options->registry->tool_count; i++) {
        const struct entry *entry = &options->registry->tools[i];
        if (apps_list_tool(work, entry)) {
            key->listed |= UINT64_C(1) << i;
            key->recommended |= (uint64_t)(entry->upfront && registry_is_ready(entry)) << i;
        }
    }
    return work->method->keeping != BY_US_IN_PAGES ||
           (read_cursor(work, &key->start) && key->start % options->page_size == 0);
}

static bool same_key(const struct list_key *a, const struct list_key *b)
{
    return a->method == b->method && a->start == b->start && a->client == b->client &&
           a->changes == b->changes && a->secrets == b->secrets && a->listed == b->listed &&
           a->recommended == b->recommended;
}

/* With the lock held. */
static struct kept_list *find_kept(struct mcp *mcp, const struct list_key *key)
{
    for (size_t i = 0; i < LIMIT_KEPT_LISTS; i++) {
        if (mcp->lists[i].result && same_key(&mcp->lists[i].key, key)) {
            return &mcp->lists[i];
        }
    }
    return NULL;
}

/* What stands before the result of an answer. False without memory. */
static bool put_head(struct mcp_work *work, struct buf *out)
{
    buf_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (json_write_immutable(out, work->arena, work->id) != OK) {
        return false;
    }
    buf_puts(out, ",\"result\":");
    redact_buf(out, 0, work->words);
    return buf_error(out) == OK;
}

/* Answers with what is kept. False where there is nothing, or no memory for it. */
static bool give_kept(struct mcp_work *work, const struct list_key *key)
{
    struct mcp *mcp = work->mcp;
    pthread_rwlock_rdlock(&mcp->lists_lock);
    const struct kept_list *kept = find_kept(mcp, key);
    bool given = kept && put_head(work, &work->answer);
    if (given) {
        buf_append(&work->answer, kept->result, kept->length);
        buf_putc(&work->answer, '}');
        given = buf_error(&work->answer) == OK;
    }
    pthread_rwlock_unlock(&mcp->lists_lock);
    if (given) {
        work->http_status = 200;
    } else if (kept) {
        buf_done(&work->answer);
    }
    return given;
}

/* Keeps a result. Where there is no more room, the one that was kept first goes. */
static void keep(struct mcp *mcp, const struct list_key *key, const char *result, size_t length)
{
    char *copy = malloc(length);
    if (!copy) {
        return;
    }
    memcpy(copy, result, length);
    char *unused = copy;
    pthread_rwlock_wrlock(&mcp->lists_lock);
    if (!find_kept(mcp, key)) {
        struct kept_list *place = &mcp->lists[mcp->next_list];
        mcp->next_list = (mcp->next_list + 1) % LIMIT_KEPT_LISTS;
        unused = place->result;
        *place = (struct kept_list){*key, copy, length};
    }
    pthread_rwlock_unlock(&mcp->lists_lock);
    free(unused);
}

/* Keeps the result of an answer, which stands behind the head. */
static void keep_answer(struct mcp_work *work, const struct list_key *key)
{
    const struct buf *answer = &work->answer;
    struct buf head;
    buf_init(&head, LIMIT_CALL_ARENA_BYTES);
    if (put_head(work, &head) && answer->length > head.length &&
        memcmp(answer->data, head.data, head.length) == 0) {
        keep(work->mcp, key, answer->data + head.length, answer->length - head.length - 1);
    }
    buf_done(&head);
}

void lists_answer(struct mcp_work *work)
{
    struct list_key key, after;
    bool known = find_key(work, &key);
    if (known && give_kept(work, &key)) {
        return;
    }
    work->method->run(work);
    /* Unless a tool became ready meanwhile. */
    if (known && work->http_status == 200 && !work->partial && find_key(work, &after) &&
        same_key(&key, &after)) {
        keep_answer(work, &key);
    }
}

void lists_free(struct mcp *mcp)
{
    for (size_t i = 0; i < LIMIT_KEPT_LISTS; i++) {
        free(mcp->lists[i].result);
    }
}
