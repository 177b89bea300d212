/* The load of the benchmarks: keep-alive connections that send one request after another and check
 * every answer. One thread and three system calls a request, so that it is not what is measured.
 *
 *     load PORT REQUEST ACTIVE IDLE SECONDS
 *
 * REQUEST is a file with a whole HTTP request, whose body holds "id":1000000000; each request gets
 * a number of its own in that place and wherever else 1000000000 stands, and its answer must carry
 * it as its id. ACTIVE connections ask as fast
 * as they are answered, IDLE ones stay open and silent meanwhile and ask once at the end. An answer
 * that is not a JSON-RPC result in a 200, or one that does not come, ends the program with
 * status 1. The last line is a JSON object with what was measured. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_CLIENTS = 4096,
    MAX_REQUEST = 8 << 10,
    MAX_ANSWER = 64 << 10,
    EVENTS_AT_ONCE = 64,
    SLOWEST_US = 10000000, /* answers that take longer count as this */
    PATIENCE_MS = 5000,    /* for an answer, when nothing else comes either */
    MAX_PLACES = 8,        /* of the number in a request */
};

static const char ID_MARK[] = "\"id\":";
static const char FIRST_ID[] = "1000000000";

struct client {
    int fd;
    bool waiting;
    uint64_t id;
    uint64_t asked_ns;
    uint64_t answers;
    size_t received;
    char *answer;
};

static struct {
    char bytes[MAX_REQUEST];
    size_t length;
    char *places[MAX_PLACES]; /* where its number stands */
    size_t place_count;
    uint64_t next_id;
} request;

static struct {
    uint64_t requests;
    uint64_t slowest_us;
    uint32_t histogram[SLOWEST_US + 1]; /* answers by their microseconds */
} measured;

static struct client clients[MAX_CLIENTS];

static void fail(const char *what, const char *detail, int length)
{
    fprintf(stderr, "load: %s%.*s\n", what, length, detail);
    exit(EXIT_FAILURE);
}

static void fail_errno(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerrorname_np(errno));
    exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* ---- before the load ---- */

static long read_number(const char *text, long least, long most)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end || number < least || number > most) {
        fail("not a number that makes sense: ", text, (int)strlen(text));
    }
    return number;
}

static void read_request(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, request.bytes, sizeof request.bytes - 1);
    if (length <= 0) {
        fail_errno(path);
    }
    close(fd);
    request.length = (size_t)length;
    if (!strstr(request.bytes, "\"id\":1000000000")) {
        fail("the request has no \"id\":1000000000", "", 0);
    }
    for (char *at = request.bytes;
         request.place_count < MAX_PLACES && (at = strstr(at, FIRST_ID)) != NULL; at++) {
        request.places[request.place_count++] = at;
    }
    request.next_id = 1000000000;
}

static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void connect_client(struct client *client, uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int yes = 1;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    client->answer = malloc(MAX_ANSWER);
    if (client->fd < 0 || !client->answer ||
        connect(client->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0 ||
        fcntl(client->fd, F_SETFL, O_NONBLOCK) != 0) {
        fail_errno("connect");
    }
}

static int watch_clients(size_t count)
{
    int poller = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &clients[i]};
        if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, clients[i].fd, &event) != 0) {
            fail_errno("epoll");
        }
    }
    return poller;
}

/* ---- asking ---- */

static void ask(struct client *client, uint64_t now)
{
    char digits[32];
    client->id = ++request.next_id;
    snprintf(digits, sizeof digits, "%lu", client->id);
    for (size_t i = 0; i < request.place_count; i++) {
        memcpy(request.places[i], digits, sizeof FIRST_ID - 1);
    }
    client->asked_ns = now;
    client->received = 0;
    client->waiting = true;
    /* The socket is empty, so that it takes the whole request or is broken. */
    if (send(client->fd, request.bytes, request.length, MSG_NOSIGNAL) != (ssize_t)request.length) {
        fail_errno("send");
    }
}

/* ---- checking answers ---- */

/* The value of a header, NULL where it is missing. `head` ends with an empty line. */
static const char *find_header(const char *head, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n") + 2; *line != '\r';
         line = strstr(line, "\r\n") + 2) {
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            return line + length + 1 + strspn(line + length + 1, " ");
        }
    }
    return NULL;
}

/* Joins the chunks in place. NULL while some are missing, else the end of the joined body. */
static char *join_chunks(char *body)
{
    char *joined = body;
    const char *chunk = body;
    for (;;) {
        const char *line_end = strstr(chunk, "\r\n");
        char *digits_end;
        unsigned long size = strtoul(chunk, &digits_end, 16);
        if (!line_end || digits_end == chunk || strlen(line_end + 2) < size + 2) {
            return NULL;
        }
        if (size == 0) {
            return joined;
        }
        memmove(joined, line_end + 2, size);
        joined += size;
        chunk = line_end + 2 + size + 2;
    }
}

/* Whether all of the last chunk is there; only then may the chunks be joined, which destroys them.
 */
static bool chunks_complete(const struct client *client)
{
    static const char END[] = "\r\n0\r\n\r\n";
    size_t length = sizeof END - 1;
    return client->received >= length &&
           memcmp(client->answer + client->received - length, END, length) == 0;
}

/* The body, ended with a NUL; NULL while it is not complete. */
static const char *find_body(struct client *client)
{
    client->answer[client->received] = '\0';
    char *body = strstr(client->answer, "\r\n\r\n");
    if (!body) {
        return NULL;
    }
    body += 4;
    const char *content_length = find_header(client->answer, "Content-Length");
    if (content_length) {
        unsigned long length = strtoul(content_length, NULL, 10);
        return (size_t)(client->answer + client->received - body) >= length ? body : NULL;
    }
    if (!find_header(client->answer, "Transfer-Encoding")) {
        fail("an answer without a length: ", client->answer, (int)client->received);
    }
    char *end = chunks_complete(client) ? join_chunks(body) : NULL;
    if (end) {
        *end = '\0';
    }
    return end ? body : NULL;
}

/* Quotes inside of JSON strings are escaped, so that these can only be keys of the answer itself.
 */
static void check_answer(const struct client *client, const char *body)
{
    const char *id = strstr(body, ID_MARK);
    bool good = strncmp(client->answer, "HTTP/1.1 200 ", 13) == 0 && id &&
                strtoull(id + strlen(ID_MARK), NULL, 10) == client->id &&
                strstr(body, "\"result\":{") && !strstr(body, "\"isError\":true");
    if (!good) {
        fail("not the expected answer: ", client->answer, (int)client->received);
    }
}

/* Takes what has come. True when the answer is complete and good. */
static bool receive(struct client *client)
{
    ssize_t got =
        recv(client->fd, client->answer + client->received, MAX_ANSWER - 1 - client->received, 0);
    if (got < 0 && errno == EAGAIN) {
        return false;
    }
    if (got <= 0 || !client->waiting) {
        fail(got == 0 ? "the server closed a connection" : "bytes that nobody asked for", "", 0);
    }
    client->received += (size_t)got;
    const char *body = find_body(client);
    if (!body) {
        return false;
    }
    check_answer(client, body);
    client->waiting = false;
    client->answers++;
    return true;
}

/* ---- the load ---- */

static void record(const struct client *client, uint64_t now)
{
    uint64_t us = (now - client->asked_ns) / 1000;
    measured.requests++;
    measured.slowest_us = us > measured.slowest_us ? us : measured.slowest_us;
    measured.histogram[us < SLOWEST_US ? us : SLOWEST_US]++;
}

/* Asks with `count` clients until `until`, each at least once, and then waits for the last answers.
 */
static void ask_until(int poller, struct client *first, size_t count, uint64_t until)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    size_t waiting = count;
    for (size_t i = 0; i < count; i++) {
        ask(&first[i], now_ns());
    }
    while (waiting > 0) {
        int ready = epoll_wait(poller, events, EVENTS_AT_ONCE, PATIENCE_MS);
        if (ready == 0) {
            fail("answers do not come", "", 0);
        }
        for (int i = 0; i < ready; i++) {
            struct client *client = events[i].data.ptr;
            if (!receive(client)) {
                continue;
            }
            uint64_t now = now_ns();
            record(client, now);
            if (now < until) {
                ask(client, now);
            } else {
                waiting--;
            }
        }
    }
}

static unsigned percentile_us(unsigned percent)
{
    uint64_t rank = (measured.requests * percent + 99) / 100;
    uint64_t seen = 0;
    unsigned us = 0;
    while (us < SLOWEST_US && (seen += measured.histogram[us]) < rank) {
        us++;
    }
    return us;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static uint64_t fewest_answers(size_t count)
{
    uint64_t fewest = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        fewest = clients[i].answers < fewest ? clients[i].answers : fewest;
    }
    return fewest;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fail("usage: load PORT REQUEST ACTIVE IDLE SECONDS", "", 0);
    }
    uint16_t port = (uint16_t)read_number(argv[1], 1, UINT16_MAX);
    size_t active = (size_t)read_number(argv[3], 1, MAX_CLIENTS);
    size_t idle = (size_t)read_number(argv[4], 0, MAX_CLIENTS - (long)active);
    uint64_t seconds = (uint64_t)read_number(argv[5], 1, 3600);
    read_request(argv[2]);
    allow_descriptors();
    for (size_t i = 0; i < active + idle; i++) {
        connect_client(&clients[i], port);
    }
    int poller = watch_clients(active + idle);
    ask_until(poller, clients + active, idle, 0); /* who never asks anything is soon let go */
    memset(&measured, 0, sizeof measured);

    double cpu_before = cpu_seconds();
    uint64_t started = now_ns();
    ask_until(poller, clients, active, started + seconds * 1000000000U);
    double took = (double)(now_ns() - started) / 1e9;
    double cpu = cpu_seconds() - cpu_before;
    printf("{\"requests\":%lu,\"per_second\":%.1f,\"p50_us\":%u,\"p99_us\":%u,\"slowest_us\":%lu,"
           "\"fewest_answers\":%lu,\"load_us_per_request\":%.2f,\"load_busy\":%.3f",
           measured.requests, (double)measured.requests / took, percentile_us(50),
           percentile_us(99), measured.slowest_us, fewest_answers(active),
           cpu * 1e6 / (double)measured.requests, cpu / took);

    ask_until(poller, clients + active, idle, 0);
    printf(",\"idle_answered\":%zu}\n", idle);
    return EXIT_SUCCESS;
}
