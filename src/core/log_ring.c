/* The ring of the log. Whoever puts a line into it writes it out too, where that cannot wait: then
 * the log needs no thread, and a line is out before the next thing happens. What stderr does not
 * take at once is left to a thread, which starts with the first such line and may wait alone.
 *
 * stderr is shared with the parent and perhaps with a terminal, so its own flags stay as they are:
 * a pipe or a terminal is opened once more, without waiting; a socket takes a flag with each write.
 * A file can make a writer wait whatever its flags are, so only the thread writes to files, and to
 * what cannot be opened again. */
#include "core/log_ring.h"

#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES PIPE_BUF /* a pipe takes as much as this whole, or not at all */
#define MOST_CHUNKS 8        /* that a caller writes before it leaves the rest to the thread */
#define PAUSE_MS    10       /* after a descriptor that said it was ready and was not */
#define STACK_BYTES KIB(128)

enum output { OUTPUT_WAITS, OUTPUT_OPENED, OUTPUT_SOCKET };

/* Apart from the rest, or the program's file would hold all its zeros. */
static char ring_bytes[LIMIT_LOG_BYTES];

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;    /* the thread has something to write */
    pthread_cond_t changed; /* something went out */
    bool open;
    enum output output;
    int descriptor;
    size_t start;
    size_t length;
    uint64_t dropped;     /* lines that no line has told of yet */
    uint64_t all_dropped; /* lines since the start */
    bool writing;         /* somebody is; others only put their lines in */
    bool thread_runs;
    bool handed; /* the thread is the one who writes */
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .descriptor = STDERR_FILENO};

/* ---- the ring, under its lock ---- */

static void append(const char *bytes, size_t length)
{
    size_t end = (ring.start + ring.length) % sizeof ring_bytes;
    size_t first = sizeof ring_bytes - end < length ? sizeof ring_bytes - end : length;
    memcpy(ring_bytes + end, bytes, first);
    memcpy(ring_bytes, bytes + first, length - first);
    ring.length += length;
}

/* As many whole lines as fit; of a line that is longer, its beginning. Their length. */
static size_t copy_lines(char chunk[CHUNK_BYTES])
{
    size_t length = ring.length < CHUNK_BYTES ? ring.length : CHUNK_BYTES;
    size_t first = sizeof ring_bytes - ring.start;
    first = first < length ? first : length;
    memcpy(chunk, ring_bytes + ring.start, first);
    memcpy(chunk + first, ring_bytes, length - first);
    const char *last = memrchr(chunk, '\n', length);
    return last ? (size_t)(last - chunk) + 1 : length;
}

static void remove_front(size_t length)
{
    ring.length -= length;
    /* From the beginning again when it is empty, so that a quiet log touches one page only. */
    ring.start = ring.length ? (ring.start + length) % sizeof ring_bytes : 0;
    pthread_cond_broadcast(&ring.changed);
}

/* Whether everything is out. What was dropped after the last line is told of here, in its place. */
static bool is_empty(void)
{
    if (ring.length == 0 && ring.dropped) {
        char stamp[CLOCK_STAMP_SIZE];
        char line[160];
        int length = snprintf(line, sizeof line, "%s WARN  %llu %s dropped: nobody read the log\n",
                              clock_stamp(stamp), (unsigned long long)ring.dropped,
                              ring.dropped == 1 ? "line was" : "lines were");
        ring.dropped = 0;
        append(line, length > 0 ? (size_t)length : 0);
    }
    return ring.length == 0;
}

/* ---- writing ---- */

/* How much went out: 0 where it would have to wait, negative where nobody can read it any more. */
static ssize_t write_at_once(const char *bytes, size_t length)
{
    ssize_t written;
    do {
        written = ring.output == OUTPUT_SOCKET
                      ? send(ring.descriptor, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL)
                      : write(ring.descriptor, bytes, length);
    } while (written < 0 && errno == EINTR);
    bool later = written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS);
    return later ? 0 : written;
}

/* The same on the thread, which waits. */
static ssize_t write_patiently(const char *bytes, size_t length)
{
    for (;;) {
        ssize_t written = write_at_once(bytes, length);
        if (written != 0) {
            return written;
        }
        struct pollfd output = {.fd = ring.descriptor, .events = POLLOUT};
        poll(&output, 1, -1);
        written = write_at_once(bytes, length);
        if (written != 0) {
            return written;
        }
        poll(NULL, 0, PAUSE_MS);
    }
}

/* Writes the first lines, without the lock meanwhile; false where they would have to wait. */
static bool write_lines(ssize_t (*write_out)(const char *bytes, size_t length))
{
    char chunk[CHUNK_BYTES];
    size_t length = copy_lines(chunk);
    pthread_mutex_unlock(&ring.lock);
    ssize_t written = write_out(chunk, length);
    pthread_mutex_lock(&ring.lock);
    /* Where nobody can read stderr any more there is nowhere left to say so. */
    remove_front(written < 0 ? length : (size_t)written);
    return written != 0;
}

static void *run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&ring.lock);
    for (;;) {
        while (!ring.handed) {
            pthread_cond_wait(&ring.work, &ring.lock);
        }
        while (!is_empty()) {
            (void)write_lines(write_patiently);
        }
        ring.handed = false;
        ring.writing = false;
        pthread_cond_broadcast(&ring.changed);
    }
    return NULL;
}

/* Where no thread can be made now, the next line tries again. */
static void hand_over(void)
{
    if (!ring.thread_runs) {
        ring.thread_runs = thread_start(NULL, STACK_BYTES, run, NULL) == OK;
    }
    ring.writing = ring.thread_runs;
    ring.handed = ring.thread_runs;
}

/* True where the thread is to be woken, without the lock: it would wait for that as soon as it
 * wakes. */
static bool write_what_is_there(void)
{
    int chunks = ring.output == OUTPUT_WAITS ? MOST_CHUNKS : 0;
    ring.writing = true;
    while (!is_empty()) {
        if (chunks++ == MOST_CHUNKS || !write_lines(write_at_once)) {
            hand_over();
            return true;
        }
    }
    ring.writing = false;
    return false;
}

/* ---- what the log asks for ---- */

void log_ring_open(void)
{
    struct stat found = {.st_mode = 0};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ring.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (fstat(STDERR_FILENO, &found) == 0 && S_ISSOCK(found.st_mode)) {
        ring.output = OUTPUT_SOCKET;
    } else if (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode)) {
        int again = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        ring.output = again < 0 ? OUTPUT_WAITS : OUTPUT_OPENED;
        ring.descriptor = again < 0 ? STDERR_FILENO : again;
    }
    ring.open = true;
}

bool log_ring_is_open(void)
{
    return ring.open;
}

static bool drop(void)
{
    ring.dropped++;
    ring.all_dropped++;
    return true;
}

bool log_ring_drops(void)
{
    pthread_mutex_lock(&ring.lock);
    bool drops = ring.dropped && drop();
    pthread_mutex_unlock(&ring.lock);
    return drops;
}

void log_ring_put(const char *line, size_t length)
{
    bool wake = false;
    pthread_mutex_lock(&ring.lock);
    /* Once lines are dropped, they are until the ring is empty: a line then tells how many. */
    if (ring.dropped || length > sizeof ring_bytes - ring.length) {
        (void)drop();
    } else {
        append(line, length);
        if (!ring.writing) {
            wake = write_what_is_there();
        }
    }
    pthread_mutex_unlock(&ring.lock);
    if (wake) {
        pthread_cond_signal(&ring.work);
    }
}

static bool wait_for_change(int64_t time_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + time_ms * 1000000;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    return pthread_cond_timedwait(&ring.changed, &ring.lock, &until) == 0;
}

void log_ring_end(void)
{
    int64_t end = clock_now_ms() + TIME_LOG_END_MS;
    pthread_mutex_lock(&ring.lock);
    if (!ring.writing && !is_empty() && write_what_is_there()) {
        pthread_cond_signal(&ring.work);
    }
    while (ring.writing && clock_now_ms() < end && wait_for_change(TIME_LOG_STILL_MS)) {
    }
    pthread_mutex_unlock(&ring.lock);
}

uint64_t log_ring_dropped(void)
{
    pthread_mutex_lock(&ring.lock);
    uint64_t dropped = ring.all_dropped;
    pthread_mutex_unlock(&ring.lock);
    return dropped;
}
