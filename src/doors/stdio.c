/* MCP over stdio: one message per line. The main thread reads; quick messages are answered on it,
 * others by a worker. Answers are written whole under a lock. Standard output belongs to the
 * protocol: nothing else writes to it.
 *
 * When standard input ends or a signal comes, what runs gets a few seconds to finish, so that
 * `echo '...' | forage mcp` shows its answer. */
#include "app/app.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/log.h"
#include "doors/doors.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES KIB(64)

struct stdio_door {
    struct app *app;
    struct mcp_client *client;
    int signals;
    pthread_mutex_t write_lock;
    atomic_bool output_closed;
    struct buf line;
    bool skipping; /* inside a line that is too long */
    struct job *listening;
};

struct job {
    struct stdio_door *door;
    struct mcp_work *work;
    struct job *next; /* of the listening ones */
};

/* Writes as much as standard output takes without blocking: a client that does not read must not
 * keep us from hearing a signal. A pipe that is ready takes PIPE_BUF bytes. */
static void write_all(struct stdio_door *door, const char *data, size_t length)
{
    struct pollfd watched[] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
                               {.fd = door->signals, .events = POLLIN}};
    while (length && !atomic_load(&door->output_closed)) {
        if (poll(watched, 2, -1) < 0 && errno != EINTR) {
            atomic_store(&door->output_closed, true);
        } else if (watched[0].revents & POLLOUT) {
            ssize_t written = write(STDOUT_FILENO, data, length < PIPE_BUF ? length : PIPE_BUF);
            if (written > 0) {
                data += written;
                length -= (size_t)written;
            } else if (errno != EINTR && errno != EAGAIN) {
                atomic_store(&door->output_closed, true);
            }
        } else if (watched[0].revents || watched[1].revents) {
            atomic_store(&door->output_closed, true); /* nobody reads, or we are told to end */
        }
    }
}

static void write_line(void *context, const char *message, size_t length)
{
    struct stdio_door *door = context;
    struct buf line;
    buf_init(&line, length + 1);
    buf_append(&line, message, length);
    buf_putc(&line, '\n');
    if (buf_error(&line) == OK) {
        pthread_mutex_lock(&door->write_lock);
        write_all(door, line.data, line.length);
        pthread_mutex_unlock(&door->write_lock);
    } else {
        log_error(NULL, "an answer was lost: out of memory");
    }
    buf_done(&line);
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
    struct job *job = context;
    mcp_work_run(job->work);
    send_answer(job->door, job->work);
    mcp_work_free(job->work);
    free(job);
}

static void run_slow(struct stdio_door *door, struct mcp_work *work)
{
    int status = ERR_NOMEM;
    struct job *job = calloc(1, sizeof *job);
    if (job) {
        *job = (struct job){.door = door, .work = work};
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
    struct job **link = &door->listening;
    while (*link) {
        struct job *job = *link;
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
    struct job *job = calloc(1, sizeof *job);
    mcp_work_run(work);
    if (!job || mcp_work_kind(work) == MCP_DONE) {
        send_answer(door, work);
        mcp_work_free(work);
        free(job);
        return;
    }
    *job = (struct job){.door = door, .work = work, .next = door->listening};
    door->listening = job;
}

static void take_message(struct stdio_door *door, const char *text, size_t length)
{
    struct mcp_peer peer = {.client = door->client, .caller = caller_local()};
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
    pthread_mutex_init(&door.write_lock, NULL);
    buf_init(&door.line, LIMIT_MESSAGE_BYTES);
    read_messages(&door);
    mcp_close_listeners(app->mcp);
    drop_listening(&door, true);
    app_finish_calls(app, &door.output_closed);
    buf_done(&door.line);
    pthread_mutex_destroy(&door.write_lock);
    mcp_client_free(door.client);
    return EXIT_SUCCESS;
}
