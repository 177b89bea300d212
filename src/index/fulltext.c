/* Keywords are taken apart once; a text is taken apart when it has to be looked at. */
#include "index/fulltext.h"

#include "core/status.h"

#include <string.h>

/* ---- the question ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Takes the marks off a keyword: -, quotes and *. */
static int read_clause(struct fulltext_clause *clause, struct arena *arena, const char *keyword)
{
    *clause = (struct fulltext_clause){0};
    const char *end = keyword + strlen(keyword);
    while (is_space(*keyword)) {
        keyword++;
    }
    while (end > keyword && is_space(end[-1])) {
        end--;
    }
    if (end - keyword > 1 && *keyword == '-') {
        clause->excluded = true;
        keyword++;
    }
    if (end - keyword > 1 && end[-1] == '*') {
        clause->prefix = true;
        end--;
    }
    if (end - keyword >= 2 && *keyword == '"' && end[-1] == '"') {
        clause->phrase = true;
        keyword++;
        end--;
    }
    clause->text = arena_strndup(arena, keyword, (size_t)(end - keyword));
    return clause->text ? OK : ERR_NOMEM;
}

/* What a keyword is made of. */
struct kinds {
    size_t words;
    size_t pairs;
};

static int count_kinds(void *context, const struct word *word)
{
    struct kinds *kinds = context;
    kinds->words += word->kind == WORD_PLAIN || word->kind == WORD_WHOLE;
    kinds->pairs += word->kind == WORD_PAIR;
    return OK;
}

/* Whether there is a word to look for. A word of a script without spaces is more than its pairs:
 * they must follow each other. */
static bool read_kinds(struct fulltext_clause *clause, struct word_reader *reader)
{
    struct kinds kinds = {0};
    words_each(reader, clause->text, strlen(clause->text), LANGUAGE_ENGLISH, count_kinds, &kinds);
    bool divided = strchr(clause->text, ' ') != NULL;
    clause->phrase |= kinds.words == 0 && kinds.pairs > 1 && !divided && !clause->prefix;
    return kinds.words + kinds.pairs > 0;
}

int fulltext_read(struct fulltext *question, struct arena *arena, const char *const *keywords,
                  size_t count, bool all)
{
    struct word_reader *reader = words_new();
    *question = (struct fulltext){.all = all};
    question->clauses = arena_alloc(arena, (count + 1) * sizeof *question->clauses);
    int status = reader && question->clauses ? OK : ERR_NOMEM;
    bool wants = false;
    for (size_t i = 0; i < count && status == OK; i++) {
        struct fulltext_clause *clause = &question->clauses[question->count];
        status = read_clause(clause, arena, keywords[i]);
        if (status == OK && read_kinds(clause, reader)) {
            question->count++;
            question->in_the_text |= clause->prefix;
            wants |= !clause->excluded;
        }
    }
    words_free(reader);
    return status != OK ? status : wants ? OK : ERR_INVALID;
}

/* ---- a text ---- */

struct text_token {
    const char *term;
    const char *folded;
    unsigned int position;
    enum word_kind kind;
};

struct text_tokens {
    struct arena *arena;
    struct text_token *items;
    size_t count, capacity;
    unsigned int base; /* added to the positions of the text at hand */
    unsigned int last;
};

static int take(void *context, const struct word *word)
{
    struct text_tokens *tokens = context;
    tokens->items = arena_grow(tokens->arena, tokens->items, tokens->count, &tokens->capacity,
                               sizeof *tokens->items);
    if (!tokens->items) {
        return ERR_NOMEM;
    }
    struct text_token *token = &tokens->items[tokens->count++];
    token->term = arena_strndup(tokens->arena, word->term, word->length);
    token->folded = arena_strndup(tokens->arena, word->folded, word->folded_length);
    token->position = tokens->base + word->position;
    token->kind = word->kind;
    tokens->last = token->position;
    return token->term && token->folded ? OK : ERR_NOMEM;
}

static bool token_is(const struct text_token *token, const struct fulltext_word *word)
{
    if (word->prefix && strncmp(token->folded, word->prefix, strlen(word->prefix)) == 0) {
        return true;
    }
    for (size_t i = 0; i < word->term_count; i++) {
        if (strcmp(token->term, word->terms[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether some token at `position` (any position: UINT_MAX) is the word. */
static bool holds_word_at(const struct text_tokens *tokens, size_t from,
                          const struct fulltext_word *word, unsigned int position)
{
    for (size_t i = from; i < tokens->count && tokens->items[i].position <= position; i++) {
        if (tokens->items[i].position == position && token_is(&tokens->items[i], word)) {
            return true;
        }
    }
    return false;
}

bool fulltext_in_phrase(enum word_kind kind)
{
    return kind == WORD_PLAIN || kind == WORD_PAIR;
}

static bool part_of_phrase(const struct fulltext_word *word)
{
    return fulltext_in_phrase(word->kind);
}

/* Whether the words follow each other in the text as they do in the keyword. */
static bool holds_phrase(const struct text_tokens *tokens, const struct fulltext_clause *clause)
{
    const struct fulltext_word *first = NULL;
    for (size_t i = 0; i < clause->word_count && !first; i++) {
        first = part_of_phrase(&clause->words[i]) ? &clause->words[i] : NULL;
    }
    for (size_t i = 0; first && i < tokens->count; i++) {
        if (!token_is(&tokens->items[i], first)) {
            continue;
        }
        bool all = true;
        for (size_t j = 0; j < clause->word_count && all; j++) {
            const struct fulltext_word *word = &clause->words[j];
            all = !part_of_phrase(word) ||
                  holds_word_at(tokens, i, word,
                                tokens->items[i].position + word->position - first->position);
        }
        if (all) {
            return true;
        }
    }
    return false;
}

static bool holds_token(const struct text_tokens *tokens, const struct fulltext_word *word)
{
    for (size_t i = 0; i < tokens->count; i++) {
        if (token_is(&tokens->items[i], word)) {
            return true;
        }
    }
    return false;
}

/* Every word of it, or an identifier as a whole. */
static bool holds_all(const struct text_tokens *tokens, const struct fulltext_clause *clause)
{
    bool all = true;
    for (size_t i = 0; i < clause->word_count; i++) {
        const struct fulltext_word *word = &clause->words[i];
        bool held = holds_token(tokens, word);
        if (word->kind == WORD_WHOLE && held) {
            return true;
        }
        all = all && (held || !part_of_phrase(word));
    }
    return all;
}

static bool holds_clause(const struct text_tokens *tokens, const struct fulltext_clause *clause)
{
    return clause->phrase ? holds_phrase(tokens, clause) : holds_all(tokens, clause);
}

int fulltext_matches(const struct fulltext *question, struct word_reader *reader,
                     struct arena *arena, const char *const *texts, size_t text_count,
                     bool *matches)
{
    struct text_tokens tokens = {.arena = arena};
    enum language language = LANGUAGE_ENGLISH;
    for (size_t i = 0; i < text_count; i++) {
        /* The first text tells the language of all, as when it was indexed. */
        size_t length = strlen(texts[i]);
        language = i == 0 ? words_guess(reader, texts[i], length) : language;
        int status = words_each(reader, texts[i], length, language, take, &tokens);
        if (status != OK) {
            return status;
        }
        tokens.base = tokens.last + 2; /* no phrase reaches from one text into the next */
    }
    bool any = false;
    bool all = true;
    for (size_t i = 0; i < question->count; i++) {
        bool held = holds_clause(&tokens, &question->clauses[i]);
        if (question->clauses[i].excluded && held) {
            *matches = false;
            return OK;
        }
        any |= held && !question->clauses[i].excluded;
        all &= held || question->clauses[i].excluded;
    }
    *matches = question->all ? all : any;
    return OK;
}
