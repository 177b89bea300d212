/* Redaction: a list of secrets in every spelling that can reach an output, replaced where they
 * occur. The list is filled while the program starts; `forage doctor` may add to it while it reads.
 */
#include "core/redact.h"

#include "core/limits.h"
#include "core/status.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEST_SECRET 6
#define MOST_SPELLINGS  1024

static const char REPLACEMENT[] = "[redacted]";

/* Which secrets which words may not hold: the table of redact.h. */
static const bool HIDDEN[][2] = {
    [WORDS_FROM_OUTSIDE] = {[SECRET_SENT] = true},
    [WORDS_OURS] = {[SECRET_SENT] = true, [SECRET_KEPT] = true},
    [WORDS_OF_CALLER] = {false},
};

/* It only grows, and an entry is complete before it is counted: readers need no lock. */
static struct {
    char *text;
    size_t length;
    _Atomic enum secret_kind kind;
} spellings[MOST_SPELLINGS];
static _Atomic size_t spelling_count;
static _Atomic unsigned version;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static int add_new(size_t place, const char *text, size_t length, enum secret_kind kind)
{
    char *copy = place < MOST_SPELLINGS ? strndup(text, length) : NULL;
    if (!copy) {
        return place < MOST_SPELLINGS ? ERR_NOMEM : ERR_LIMIT;
    }
    spellings[place].text = copy;
    spellings[place].length = length;
    spellings[place].kind = kind;
    spelling_count = place + 1;
    return OK;
}

static int add_spelling(const char *text, size_t length, enum secret_kind kind)
{
    int status = OK;
    pthread_mutex_lock(&adding);
    size_t place = 0;
    while (place < spelling_count && (spellings[place].length != length ||
                                      memcmp(spellings[place].text, text, length) != 0)) {
        place++;
    }
    if (place == spelling_count) {
        status = add_new(place, text, length, kind);
    } else if (kind == SECRET_SENT) {
        spellings[place].kind = kind;
    }
    version++;
    pthread_mutex_unlock(&adding);
    return status;
}

static void spell_json(struct buf *out, const char *secret)
{
    for (const char *c = secret; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\') {
            buf_printf(out, "\\%c", byte);
        } else if (byte < 0x20) {
            buf_printf(out, "\\u%04X", byte);
        } else {
            buf_putc(out, *c);
        }
    }
}

static void spell_percent(struct buf *out, const char *secret)
{
    static const char PLAIN[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (const char *c = secret; *c; c++) {
        if (strchr(PLAIN, *c)) {
            buf_putc(out, *c);
        } else {
            buf_printf(out, "%%%02X", (unsigned char)*c);
        }
    }
}

int redact_add(const char *secret, enum secret_kind kind)
{
    static void (*const SPELLERS[])(struct buf *, const char *) = {spell_json, spell_percent};
    size_t length = strlen(secret);
    if (length < SHORTEST_SECRET) {
        return OK;
    }
    int status = add_spelling(secret, length, kind);
    for (size_t i = 0; status == OK && i < sizeof SPELLERS / sizeof *SPELLERS; i++) {
        struct buf spelled;
        buf_init(&spelled, KIB(256));
        SPELLERS[i](&spelled, secret);
        status = buf_error(&spelled);
        if (status == OK) {
            status = add_spelling(spelled.data, spelled.length, kind);
        }
        buf_done(&spelled);
    }
    return status;
}

/* The first secret in the text that such words may not hold, the longest where several begin at one
 * place; NULL when there is none. */
static const char *find_secret(const char *text, size_t length, enum words words,
                               size_t *found_length)
{
    const char *first = NULL;
    for (size_t i = 0; i < spelling_count; i++) {
        if (!HIDDEN[words][spellings[i].kind]) {
            continue;
        }
        const char *hit = memmem(text, length, spellings[i].text, spellings[i].length);
        if (hit &&
            (!first || hit < first || (hit == first && spellings[i].length > *found_length))) {
            first = hit;
            *found_length = spellings[i].length;
        }
    }
    return first;
}

bool redact_needed(const char *text, size_t length, enum words words)
{
    size_t found_length = 0;
    return find_secret(text, length, words, &found_length) != NULL;
}

bool redact_buf(struct buf *buf, size_t from, enum words words)
{
    if (from >= buf->length || !redact_needed(buf->data + from, buf->length - from, words)) {
        return false;
    }
    struct buf clean;
    buf_init(&clean, buf->ceiling);
    const char *rest = buf->data + from;
    size_t left = buf->length - from;
    const char *hit;
    size_t hit_length = 0;
    while ((hit = find_secret(rest, left, words, &hit_length)) != NULL) {
        buf_append(&clean, rest, (size_t)(hit - rest));
        buf_puts(&clean, REPLACEMENT);
        left -= (size_t)(hit - rest) + hit_length;
        rest = hit + hit_length;
    }
    buf_append(&clean, rest, left);
    buf->length = from;
    buf->data[from] = '\0';
    if (buf_error(&clean) == OK) {
        buf_append(buf, clean.data, clean.length);
    } else {
        buf->error = buf_error(&clean); /* better nothing than a secret */
    }
    buf_done(&clean);
    return true;
}

unsigned redact_version(void)
{
    return version;
}

void redact_reset(void)
{
    for (size_t i = 0; i < spelling_count; i++) {
        free(spellings[i].text);
    }
    spelling_count = 0;
}
