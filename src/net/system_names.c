/* getaddrinfo() in threads. A look-up is shared by its owner and its thread, and so are the names
 * that count it; the last of them frees it. */
#include "net/system_names.h"

#include "core/event.h"

#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough for the modules that glibc loads to look names up. */
#define STACK_BYTES KIB(256)
#define SOURCES     "/etc/nsswitch.conf"

struct system_names {
    pthread_mutex_t lock;
    struct stock *stock;            /* NULL: the program has ended */
    struct system_look_up *running; /* that hold a unit of it */
    size_t references;
};

struct system_look_up {
    struct system_names *names; /* NULL: not counted */
    struct system_look_up *previous, *next;
    struct holding unit;
    char *host;
    int port;
    int event;
    atomic_uint references;
    atomic_bool finished; /* after it, `status` and `result` do not change any more */
    int status;
    struct resolve_result result;
};

/* ---- who is counted ---- */

struct system_names *system_names_new(struct stocks *stocks)
{
    struct system_names *names = calloc(1, sizeof *names);
    if (!names) {
        return NULL;
    }
    pthread_mutex_init(&names->lock, NULL);
    names->references = 1;
    names->stock = stock_new(stocks, &(struct stock_rule){
                                         .name = "system_look_ups",
                                         .help = "threads in which the system looks names up",
                                         .all = LIMIT_SYSTEM_LOOK_UPS,
                                         .kept = LIMIT_SYSTEM_LOOK_UPS / 8,
                                         .among_others = true,
                                     });
    return names->stock ? names : system_names_free(names);
}

static void leave_names(struct system_names *names)
{
    pthread_mutex_lock(&names->lock);
    bool last = --names->references == 0;
    pthread_mutex_unlock(&names->lock);
    if (last) {
        pthread_mutex_destroy(&names->lock);
        free(names);
    }
}

struct system_names *system_names_free(struct system_names *names)
{
    if (names) {
        pthread_mutex_lock(&names->lock);
        for (struct system_look_up *each = names->running; each; each = each->next) {
            stock_give_all(&each->unit);
        }
        names->stock = stock_free(names->stock);
        pthread_mutex_unlock(&names->lock);
        leave_names(names);
    }
    return NULL;
}

static int enter_names(struct system_look_up *look_up, struct system_names *names,
                       const struct resolve_question *question)
{
    pthread_mutex_lock(&names->lock);
    int status = stock_take(names->stock, question->owner, question->from_kept, 1, &look_up->unit);
    if (status == OK) {
        names->references++;
        look_up->names = names;
        look_up->next = names->running;
        if (look_up->next) {
            look_up->next->previous = look_up;
        }
        names->running = look_up;
    }
    pthread_mutex_unlock(&names->lock);
    return status;
}

/* When its thread is done with it, or was never started. */
static void be_uncounted(struct system_look_up *look_up)
{
    struct system_names *names = look_up->names;
    if (names) {
        pthread_mutex_lock(&names->lock);
        stock_give_all(&look_up->unit);
        *(look_up->previous ? &look_up->previous->next : &names->running) = look_up->next;
        if (look_up->next) {
            look_up->next->previous = look_up->previous;
        }
        pthread_mutex_unlock(&names->lock);
        leave_names(names);
    }
}

/* ---- its sources ---- */

bool system_has_other_sources(void)
{
    char line[1024];
    bool others = false;
    FILE *file = fopen(SOURCES, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *rest = line + strspn(line, " \t");
        if (strncmp(rest, "hosts:", 6) != 0) {
            continue;
        }
        rest[strcspn(rest, "#\n")] = '\0';
        char *save = NULL;
        bool in_action = false; /* between brackets stands what to do, which may be several words */
        for (char *word = strtok_r(rest + 6, " \t", &save); word;
             word = strtok_r(NULL, " \t", &save)) {
            bool action = in_action || *word == '[';
            in_action = action && !strchr(word, ']');
            others |= !action && strcmp(word, "files") != 0 && strcmp(word, "dns") != 0;
        }
    }
    if (file) {
        fclose(file);
    }
    return others;
}

/* ---- the answer ---- */

static const struct {
    int error;
    int status;
    const char *problem;
} FAILURES[] = {
    {EAI_NONAME, ERR_NOTFOUND, "the name does not exist"},
#ifdef EAI_NODATA
    {EAI_NODATA, ERR_NOTFOUND, "the name has no address"},
#endif
    {EAI_AGAIN, ERR_IO, "the name servers did not answer"},
    {EAI_FAIL, ERR_IO, "the name servers answered with an error"},
    {EAI_MEMORY, ERR_NOMEM, "there is no memory for the look-up"},
};

static int ask(const char *host, int port, struct resolve_result *result)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int error = getaddrinfo(host, NULL, &hints, &list);
    if (error == 0) {
        for (const struct addrinfo *each = list; each; each = each->ai_next) {
            resolve_add(result, each->ai_addr, each->ai_addrlen, port);
        }
        freeaddrinfo(list);
        result->problem = result->count ? NULL : "the name has no address";
        return result->count ? OK : ERR_NOTFOUND;
    }
    for (size_t i = 0; i < sizeof FAILURES / sizeof *FAILURES; i++) {
        if (FAILURES[i].error == error) {
            result->problem = FAILURES[i].problem;
            return FAILURES[i].status;
        }
    }
    result->problem = "the name could not be looked up";
    return ERR_IO;
}

/* ---- a look-up ---- */

struct system_look_up *system_look_up_free(struct system_look_up *look_up)
{
    if (look_up && atomic_fetch_sub(&look_up->references, 1) == 1) {
        event_close(look_up->event);
        free(look_up->host);
        free(look_up);
    }
    return NULL;
}

static void *run(void *argument)
{
    struct system_look_up *look_up = argument;
    look_up->status = ask(look_up->host, look_up->port, &look_up->result);
    be_uncounted(look_up);
    atomic_store(&look_up->finished, true);
    event_signal(look_up->event);
    system_look_up_free(look_up);
    return NULL;
}

int system_look_up_start(struct system_names *names, const struct resolve_question *question,
                         struct system_look_up **out)
{
    struct system_look_up *look_up = calloc(1, sizeof *look_up);
    *out = NULL;
    if (!look_up) {
        return ERR_NOMEM;
    }
    atomic_init(&look_up->references, 2); /* its thread's and its owner's */
    look_up->port = question->port;
    look_up->host = strdup(question->host);
    look_up->event = event_open();
    int status = look_up->host && look_up->event >= 0 ? OK : ERR_NOMEM;
    if (status == OK && names) {
        status = enter_names(look_up, names, question);
    }
    if (status == OK) {
        status = thread_start(NULL, STACK_BYTES, run, look_up);
        if (status != OK) {
            be_uncounted(look_up);
        }
    }
    if (status != OK) {
        atomic_store(&look_up->references, 1);
        system_look_up_free(look_up);
        return status;
    }
    *out = look_up;
    return OK;
}

int system_look_up_fd(const struct system_look_up *look_up)
{
    return look_up->event;
}

int system_look_up_finish(struct system_look_up *look_up, struct resolve_result *result)
{
    if (!atomic_load(&look_up->finished)) {
        return ERR_BUSY;
    }
    *result = look_up->result;
    return look_up->status;
}
