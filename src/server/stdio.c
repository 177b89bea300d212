/* MCP over stdio: one message per line. The main thread reads; quick messages are answered on it,
 * others by a worker. Answers are written whole under a lock. Standard output belongs to the
 * protocol: nothing else writes to it.
 *
 * When standard input ends or a signal comes, what runs gets a few seconds to finish, so that
 * `echo '...' | forage mcp` shows its answer. A client that has closed it and takes nothing more
 * for a few seconds has left. */
#include "server/stdio.h"
#include "app/app.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define READ_BYTES KIB(64)

#define LOOK_MS   500 /* between two looks whether standard input has ended, where it cannot tell */
#define CHANCE_MS 250 /* that each answer has to be taken, however late it is */

struct stdio_door {
    struct app *app;
    struct mcp_client *client;
    char session[ID_SECRET_SIZE]; /* of this connection; "" where nobody wants to know */
    int signals;
    pthread_mutex_t write_lock;
    int64_t moved_ms; /* when the client last took something; under the lock, as what follows */
    bool cannot_tell; /* the system does not tell how much standard output takes without waiting */
    atomic_bool output_closed;
    _Atomic int64_t input_ended_ms; /* 0: it has not */
    struct buf line;
    bool skipping; /* inside a line that is too long */
    struct stdio_job *listening;
};

struct stdio_job {
    struct stdio_door *door;
    struct mcp_work *work;
    struct stdio_job *next; /* of the listening ones */
};

static void note_end_of_input(struct stdio_door *door)
{
    int64_t not_yet = 0;
    atomic_compare_exchange_strong(&door->input_ended_ms, &not_yet, clock_now_ms());
}

/* How long to wait for a client that takes nothing now; 0: no longer. While it can still ask
 * something it may take its time. */
static int patience(const struct stdio_door *door, int64_t began_ms)
{
    int64_t ended = atomic_load(&door->input_ended_ms);
    if (ended == 0) {
        return LOOK_MS;
    }
    int64_t end = (ended > door->moved_ms ? ended : door->moved_ms) + TIME_SHUTDOWN_SEND_MS;
    end = end > began_ms + CHANCE_MS ? end : began_ms + CHANCE_MS;
    int64_t left = end - clock_now_ms();
    return left <= 0 ? 0 : left < LOOK_MS ? (int)left : LOOK_MS;
}

/* A line on its way out: what is left of the message, and of its end. */
struct output_line {
    struct iovec pieces[2];
    size_t left;
};

/* Takes from the line what was written of it. */
static void advance(struct stdio_door *door, struct output_line *line, size_t written)
{
    for (size_t i = 0; i < sizeof line->pieces / sizeof *line->pieces; i++) {
        struct iovec *piece = &line->pieces[i];
        size_t part = written < piece->iov_len ? written : piece->iov_len;
        piece->iov_base = (char *)piece->iov_base + part;
        piece->iov_len -= part;
        line->left -= part;
        written -= part;
    }
    door->moved_ms = clock_now_ms();
}

/* Writes what standard output takes at once; false where that is nothing, or the system cannot tell
 * (pipes before Linux 6.4, files, terminals). */
static bool write_at_once(struct stdio_door *door, struct output_line *line)
{
    ssize_t written =
        door->cannot_tell ? -1 : pwritev2(STDOUT_FILENO, line->pieces, 2, -1, RWF_NOWAIT);
    if (written > 0) {
        advance(door, line, (size_t)written);
    } else if (written < 0 && errno != EAGAIN && errno != EINTR) {
        door->cannot_tell = true;
    }
    return written > 0;
}

/* Writes to a standard output that is ready: a pipe then takes PIPE_BUF bytes. False when its
 * reader has left. */
static bool write_some(struct stdio_door *door, struct output_line *line)
{
    const struct iovec *piece = &line->pieces[line->pieces[0].iov_len == 0];
    ssize_t written = write(STDOUT_FILENO, piece->iov_base,
                            piece->iov_len < PIPE_BUF ? piece->iov_len : PIPE_BUF);
    if (written > 0) {
        advance(door, line, (size_t)written);
    }
    return written > 0 || errno == EINTR || errno == EAGAIN;
}

/* Writes without blocking, under the lock: a client that does not read must not keep us from
 * hearing a signal, nor from seeing that it has left. */
static void write_all(struct stdio_door *door, struct output_line *line)
{
    struct pollfd watched[] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
                               {.fd = door->signals, .events = POLLIN},
                               {.fd = STDIN_FILENO, .events = POLLRDHUP}};
    int64_t began_ms = clock_now_ms();
    while (line->left && !atomic_load(&door->output_closed)) {
        if (write_at_once(door, line)) {
            continue;
        }
        watched[2].fd = atomic_load(&door->input_ended_ms) ? -1 : STDIN_FILENO;
        int wait_ms = patience(door, began_ms);
        int ready = poll(watched, 3, wait_ms);
        bool gone = ready < 0 && errno != EINTR;
        if (ready > 0 && watched[0].revents & POLLOUT) {
            gone = !write_some(door, line);
        } else if (ready > 0 && watched[2].revents) {
            note_end_of_input(door);
        } else if (ready > 0) {
            gone = true; /* nobody reads, or we are told to end */
        } else if (ready == 0 && wait_ms == 0) {
            log_warn(NULL, "the client has closed standard input and takes no answers; ending");
            gone = true;
        }
        if (gone) {
            atomic_store(&door->output_closed, true);
        }
    }
}

static void write_line(void *context, const char *message, size_t length)
{
    struct stdio_door *door = context;
    char end[] = "\n";
    union {
        const char *in;
        void *out;
    } same = {message}; /* what writes only reads, its structure cannot say so */
    struct output_line line = {.pieces = {{same.out, length}, {end, 1}}, .left = length + 1};
    pthread_mutex_lock(&door->write_lock);
    write_all(door, &line);
    pthread_mutex_unlock(&door->write_lock);
}

static void send_answer(struct stdio_door *door, struct mcp_work *work)
{
    struct mcp_answer answer = mcp_work_answer(work);
    if (answer.text) {
        write_line(door, answer.text, answer.length);
    }
}

static void run_job(void *context)
{
    struct stdio_job *job = context;
    mcp_work_run(job->work);
    send_answer(job->door, job->work);
    mcp_work_free(job->work);
    free(job);
}

static void run_slow(struct stdio_door *door, struct mcp_work *work)
{
    int status = ERR_NOMEM;
    struct stdio_job *job = calloc(1, sizeof *job);
    if (job) {
        *job = (struct stdio_job){.door = door, .work = work};
        status =
            pool_run(door->app->pool, mcp_work_call(work), mcp_work_is_local(work), run_job, job);
        if (status == OK) {
            return;
        }
    }
    free(job);
    mcp_work_refuse(work, pool_refusal(status));
    send_answer(door, work);
    mcp_work_free(work);
}

/* Lets go of the subscriptions that the client has cancelled, or of all. */
static void drop_listening(struct stdio_door *door, bool all)
{
    struct stdio_job **link = &door->listening;
    while (*link) {
        struct stdio_job *job = *link;
        if (all || call_cancelled(mcp_work_call(job->work))) {
            *link = job->next;
            mcp_work_free(job->work);
            free(job);
        } else {
            link = &job->next;
        }
    }
}

static void listen_on(struct stdio_door *door, struct mcp_work *work)
{
    drop_listening(door, false);
    struct stdio_job *job = calloc(1, sizeof *job);
    mcp_work_run(work);
    if (!job || mcp_work_kind(work) == MCP_DONE) {
        send_answer(door, work);
        mcp_work_free(work);
        free(job);
        return;
    }
    *job = (struct stdio_job){.door = door, .work = work, .next = door->listening};
    door->listening = job;
}

static void take_message(struct stdio_door *door, const char *text, size_t length)
{
    struct mcp_peer peer = {.client = door->client,
                            .session = *door->session ? door->session : NULL,
                            .caller = caller_local()};
    struct mcp_sink sink = {.context = door, .send = write_line};
    struct mcp_work *work = mcp_receive(door->app->mcp, &peer, text, length);
    if (!work) {
        log_error(NULL, "a message was lost: out of memory");
        return;
    }
    mcp_work_set_sink(work, &sink);
    switch (mcp_work_kind(work)) {
    case MCP_SLOW:
        run_slow(door, work);
        return;
    case MCP_LISTEN:
        listen_on(door, work);
        return;
    case MCP_QUICK:
        mcp_work_run(work);
        break;
    case MCP_DONE:
        break;
    }
    send_answer(door, work);
    mcp_work_free(work);
}

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!strchr(" \t\r", text[i]) || !text[i]) {
            return false;
        }
    }
    return true;
}

/* A line is complete, with its beginning in door->line where it came in pieces. */
static void end_line(struct stdio_door *door, const char *text, size_t length)
{
    if (!door->skipping && door->line.length + length > LIMIT_MESSAGE_BYTES) {
        write_line(door, MCP_LINE_TOO_LONG, strlen(MCP_LINE_TOO_LONG));
    } else if (!door->skipping && door->line.length == 0) {
        if (!is_blank(text, length)) {
            take_message(door, text, length);
        }
    } else if (!door->skipping && buf_append(&door->line, text, length) == OK) {
        if (!is_blank(door->line.data, door->line.length)) {
            take_message(door, door->line.data, door->line.length);
        }
    }
    door->skipping = false;
    buf_done(&door->line);
}

/* Keeps the beginning of a line. One that grows too long is answered once and skipped to its end.
 */
static void keep_rest(struct stdio_door *door, const char *text, size_t length)
{
    if (door->skipping) {
        return;
    }
    if (door->line.length + length > LIMIT_MESSAGE_BYTES ||
        buf_append(&door->line, text, length) != OK) {
        write_line(door, MCP_LINE_TOO_LONG, strlen(MCP_LINE_TOO_LONG));
        buf_done(&door->line);
        door->skipping = true;
    }
}

static void take_bytes(struct stdio_door *door, const char *data, size_t length)
{
    const char *newline;
    while ((newline = memchr(data, '\n', length)) != NULL) {
        size_t line_length = (size_t)(newline - data);
        end_line(door, data, line_length);
        data += line_length + 1;
        length -= line_length + 1;
    }
    if (length) {
        keep_rest(door, data, length);
    }
}

/* Reads until standard input ends, output is gone or a signal comes. */
static void read_messages(struct stdio_door *door)
{
    char *bytes = malloc(READ_BYTES);
    if (!bytes) {
        log_error(NULL, "out of memory");
        return;
    }
    struct pollfd watched[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = door->signals, .events = POLLIN}};
    while (!atomic_load(&door->output_closed)) {
        if (poll(watched, 2, -1) < 0 && errno != EINTR) {
            break;
        }
        if (watched[1].revents && signals_take(door->signals)) {
            break;
        }
        if (!watched[0].revents) {
            continue;
        }
        ssize_t got = read(STDIN_FILENO, bytes, READ_BYTES);
        if (got > 0) {
            take_bytes(door, bytes, (size_t)got);
        } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
            /* A last line without its newline is still a message. */
            note_end_of_input(door);
            end_line(door, "", 0);
            break;
        }
    }
    free(bytes);
}

int door_stdio(struct app *app, int signals)
{
    struct stdio_door door = {.app = app, .client = mcp_client_new(), .signals = signals};
    if (!door.client) {
        log_error(NULL, "out of memory");
        return EXIT_FAILURE;
    }
    if (app->parts.experiments && id_make_secret(door.session) != OK) {
        door.session[0] = '\0';
    }
    pthread_mutex_init(&door.write_lock, NULL);
    buf_init(&door.line, LIMIT_MESSAGE_BYTES);
    read_messages(&door);
    mcp_close_listeners(app->mcp);
    drop_listening(&door, true);
    app_finish_calls(app, true, &door.output_closed);
    buf_done(&door.line);
    pthread_mutex_destroy(&door.write_lock);
    mcp_client_free(door.client);
    return EXIT_SUCCESS;
}
