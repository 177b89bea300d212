/* Texts are compared as their folded words with blanks between them. */
#include "memory/phrase.h"

#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"

#include <string.h>

#define MOST_FOLDED 20u /* times the bytes of a text, that its folded words take at most */

struct joining {
    struct buf out;
    size_t count;
};

static int take(void *context, const struct word *word)
{
    struct joining *joining = context;
    if (word->kind != WORD_PLAIN && word->kind != WORD_PAIR) {
        return OK;
    }
    joining->count++;
    buf_append(&joining->out, word->folded, word->folded_length);
    return buf_putc(&joining->out, ' ');
}

/* The words of a text with blanks around them. */
static int join(struct joining *joining, struct word_reader *reader, const char *text)
{
    *joining = (struct joining){0};
    buf_init(&joining->out, MOST_FOLDED * LIMIT_MEMORY_TEXT_BYTES);
    buf_putc(&joining->out, ' ');
    /* Words are the same in every language before they are stemmed. */
    int status = words_each(reader, text, strlen(text), LANGUAGE_ENGLISH, take, joining);
    return status == OK ? buf_error(&joining->out) : status;
}

int phrase_read(struct phrase *phrase, struct word_reader *reader, struct arena *arena,
                const char *text)
{
    struct joining joining;
    int status = join(&joining, reader, text);
    phrase->words = NULL;
    if (status == OK && joining.count > 1) {
        phrase->words = arena_strdup(arena, joining.out.data);
        status = phrase->words ? OK : ERR_NOMEM;
    }
    buf_done(&joining.out);
    return status;
}

int phrase_find(const struct phrase *phrase, struct word_reader *reader, const char *text,
                bool whole, bool *found)
{
    struct joining joining;
    *found = false;
    if (!phrase->words || !text) {
        return OK;
    }
    int status = join(&joining, reader, text);
    if (status == OK) {
        *found = whole ? strcmp(joining.out.data, phrase->words) == 0
                       : strstr(joining.out.data, phrase->words) != NULL;
    }
    buf_done(&joining.out);
    return status;
}
