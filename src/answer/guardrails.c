/* Reads the rules of guardrails, checks them, and applies them to queries. */
#include "answer/question.h"
#include "core/files.h"
#include "core/limits.h"
#include "core/status.h"
#include "embedded.h"
#include "text/json.h"
#include "text/slice.h"
#include "text/text.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS   512 /* of a query; it has 400 characters */
#define FOLDED_BYTES KIB(4)

struct guardrails {
    struct arena *arena;
    pthread_mutex_t lock;
    const char *unread; /* the rules that are built in, until somebody asks */
    yyjson_val *rules;  /* an array; NULL: nothing is refused */
};

/* ---- reading ---- */

static bool is_phrases(yyjson_val *value, bool needed)
{
    size_t index, most;
    yyjson_val *phrase;
    if (!value) {
        return !needed;
    }
    bool good = yyjson_is_arr(value) && (yyjson_arr_size(value) > 0 || !needed);
    yyjson_arr_foreach(value, index, most, phrase)
    {
        good = good && yyjson_is_str(phrase) && yyjson_get_len(phrase) > 0;
    }
    return good;
}

static bool is_known(const char *key)
{
    static const char *const KEYS[] = {"name", "server", "about",  "match",
                                       "any",  "with",   "unless", "comment"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (strcmp(key, KEYS[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* NULL when the rule is as it should be, otherwise what is wrong with it. */
static const char *check_rule(yyjson_val *rule)
{
    const char *match = json_string(rule, "match");
    yyjson_obj_iter members = yyjson_obj_iter_with(rule);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&members)) != NULL) {
        if (!is_known(yyjson_get_str(key))) {
            return "it has a member that is not known (name, server, about, match, any, with and "
                   "unless are)";
        }
    }
    if (!json_string(rule, "name") || !json_string(rule, "server")) {
        return "it needs a name and the server to use instead";
    }
    if (yyjson_obj_get(rule, "match") &&
        !(match && (strcmp(match, "words") == 0 || strcmp(match, "text") == 0))) {
        return "match is \"words\" or \"text\"";
    }
    if (!is_phrases(yyjson_obj_get(rule, "any"), true)) {
        return "any must be a list of phrases";
    }
    if (!is_phrases(yyjson_obj_get(rule, "with"), false) ||
        !is_phrases(yyjson_obj_get(rule, "unless"), false)) {
        return "with and unless must be lists of phrases";
    }
    return NULL;
}

static int check_rules(yyjson_val *root, char *problem, size_t size)
{
    yyjson_val *rules = yyjson_obj_get(root, "rules");
    size_t index, most;
    yyjson_val *rule;
    if (!yyjson_is_arr(rules) || yyjson_arr_size(rules) > LIMIT_GUARDRAIL_RULES ||
        json_holds_nul(root)) {
        snprintf(problem, size, "it must be {\"rules\": [...]} with at most %d rules",
                 LIMIT_GUARDRAIL_RULES);
        return ERR_INVALID;
    }
    yyjson_arr_foreach(rules, index, most, rule)
    {
        const char *wrong = check_rule(rule);
        if (wrong) {
            snprintf(problem, size, "rule %zu: %s", index + 1, wrong);
            return ERR_INVALID;
        }
    }
    return OK;
}

static struct guardrails *make(const char *unread)
{
    struct guardrails *guardrails = calloc(1, sizeof *guardrails);
    if (!guardrails) {
        return NULL;
    }
    pthread_mutex_init(&guardrails->lock, NULL);
    guardrails->unread = unread;
    guardrails->arena = arena_new(LIMIT_GUARDRAIL_ARENA_BYTES);
    return guardrails->arena ? guardrails : guardrails_free(guardrails);
}

static int fill(struct guardrails *guardrails, const char *json, size_t length, char *problem,
                size_t size)
{
    struct json_problem wrong = {.text = "out of memory"};
    yyjson_val *root = yyjson_doc_get_root(json_parse(guardrails->arena, json, length, &wrong));
    if (!root) {
        snprintf(problem, size, "it is not JSON: %s", wrong.text);
        return arena_failed(guardrails->arena) ? ERR_NOMEM : ERR_INVALID;
    }
    int status = check_rules(root, problem, size);
    guardrails->rules = status == OK ? yyjson_obj_get(root, "rules") : NULL;
    return status;
}

struct guardrails *guardrails_parse(const char *json, size_t length, char *problem, size_t size)
{
    struct guardrails *guardrails = make(NULL);
    snprintf(problem, size, "out of memory");
    return guardrails && fill(guardrails, json, length, problem, size) == OK
               ? guardrails
               : guardrails_free(guardrails);
}

static struct guardrails *read_rules(const char *path, char *problem, size_t size)
{
    char reason[256] = "";
    struct guardrails *guardrails = NULL;
    struct buf text;
    buf_init(&text, LIMIT_CONFIG_FILE_BYTES);
    int status = read_whole(path, &text);
    if (status == OK) {
        guardrails =
            guardrails_parse(text.data ? text.data : "", text.length, reason, sizeof reason);
    } else {
        snprintf(reason, sizeof reason, "%s",
                 status == ERR_IO ? strerror(errno) : "it is too large");
    }
    buf_done(&text);
    if (!guardrails) {
        snprintf(problem, size,
                 "FORAGE_GUARDRAILS is balanced, strict, off or a file of rules; %s: %s", path,
                 reason);
    }
    return guardrails;
}

struct guardrails *guardrails_new(const char *setting, char *problem, size_t size)
{
    static const struct {
        const char *word;
        const char *rules;
    } SETS[] = {
        {"balanced", guardrails_balanced},
        {"strict", guardrails_strict},
        {"off", "{\"rules\":[]}"},
    };
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS; i++) {
        if (strcmp(setting, SETS[i].word) == 0) {
            snprintf(problem, size, "out of memory");
            return make(SETS[i].rules);
        }
    }
    return read_rules(setting, problem, size);
}

int guardrails_read(struct guardrails *guardrails)
{
    char problem[256];
    pthread_mutex_lock(&guardrails->lock);
    const char *unread = guardrails->unread;
    int status = unread ? fill(guardrails, unread, strlen(unread), problem, sizeof problem) : OK;
    guardrails->unread = status == OK ? NULL : unread;
    pthread_mutex_unlock(&guardrails->lock);
    return status;
}

struct guardrails *guardrails_free(struct guardrails *guardrails)
{
    if (guardrails) {
        arena_free(guardrails->arena);
        pthread_mutex_destroy(&guardrails->lock);
        free(guardrails);
    }
    return NULL;
}

/* ---- letters and words ---- */

/* The small letter of a capital one, for Latin, Greek and Cyrillic. */
static uint32_t fold(uint32_t point)
{
    static const struct {
        uint32_t first, last, distance;
    } CAPITALS[] = {{'A', 'Z', 32},     {0xC0, 0xD6, 32},   {0xD8, 0xDE, 32},
                    {0x391, 0x3A9, 32}, {0x400, 0x40F, 80}, {0x410, 0x42F, 32}};
    for (size_t i = 0; i < sizeof CAPITALS / sizeof *CAPITALS; i++) {
        if (point >= CAPITALS[i].first && point <= CAPITALS[i].last) {
            return point + CAPITALS[i].distance;
        }
    }
    return point;
}

static void fold_text(struct text_out *out, const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        char bytes[4] = "";
        text_put_bytes(out, bytes, text_encode(fold(text_next(&text, end)), bytes));
    }
}

struct query_words {
    char folded[FOLDED_BYTES];
    struct slice list[MOST_WORDS];
    size_t count;
};

/* Letters and digits, everything beyond ASCII included, and the * of a phrase. */
static bool in_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || c == '*';
}

/* Takes the next word of a folded text; its length is 0 at the end. */
static struct slice next_word(const char **at)
{
    while (**at && !in_word(**at)) {
        (*at)++;
    }
    struct slice word = {*at, 0};
    while (in_word(**at)) {
        (*at)++;
    }
    word.length = (size_t)(*at - word.data);
    return word;
}

static void split(struct query_words *words, const char *query)
{
    struct text_out out;
    text_start(&out, words->folded, sizeof words->folded);
    fold_text(&out, query);
    const char *at = words->folded;
    words->count = 0;
    for (struct slice word = next_word(&at); word.length && words->count < MOST_WORDS;
         word = next_word(&at)) {
        words->list[words->count++] = word;
    }
}

static bool same_word(struct slice word, struct slice pattern)
{
    bool open = pattern.length && pattern.data[pattern.length - 1] == '*';
    size_t length = open ? pattern.length - 1 : pattern.length;
    return (open ? word.length >= length : word.length == length) &&
           memcmp(word.data, pattern.data, length) == 0;
}

/* ---- matching ---- */

/* Which words of a query a phrase covers. */
struct phrase_place {
    size_t start, end;
};

/* Whether a folded phrase stands at the word `start`. */
static bool phrase_at(const struct query_words *words, size_t start, const char *phrase,
                      struct phrase_place *place)
{
    size_t at = start;
    for (struct slice word = next_word(&phrase); word.length; word = next_word(&phrase)) {
        if (at >= words->count || !same_word(words->list[at], word)) {
            return false;
        }
        at++;
    }
    *place = (struct phrase_place){start, at};
    return at > start;
}

/* The first of the phrases that the query holds outside of `taken`; NULL: none. */
static const char *find_phrase(const struct query_words *words, yyjson_val *phrases,
                               bool whole_words, const struct phrase_place *taken,
                               struct phrase_place *place)
{
    size_t index, most;
    yyjson_val *item;
    yyjson_arr_foreach(phrases, index, most, item)
    {
        const char *phrase = yyjson_get_str(item);
        char folded[256];
        struct text_out out;
        text_start(&out, folded, sizeof folded);
        fold_text(&out, phrase);
        if (!whole_words) {
            if (strstr(words->folded, folded)) {
                return phrase;
            }
            continue;
        }
        for (size_t at = 0; at < words->count; at++) {
            bool apart = phrase_at(words, at, folded, place) &&
                         (!taken || place->end <= taken->start || place->start >= taken->end);
            if (apart) {
                return phrase;
            }
        }
    }
    return NULL;
}

static bool applies(const struct query_words *words, yyjson_val *rule,
                    struct guardrail_refusal *refusal)
{
    const char *match = json_string(rule, "match");
    bool whole = !match || strcmp(match, "words") == 0;
    yyjson_val *any = yyjson_obj_get(rule, "any");
    yyjson_val *with = yyjson_obj_get(rule, "with");
    struct phrase_place place = {0, 0};
    struct phrase_place other;
    const char *phrase = find_phrase(words, any, whole, NULL, &place);
    if (!phrase || find_phrase(words, yyjson_obj_get(rule, "unless"), whole, NULL, &other)) {
        return false;
    }
    const char *beside = with ? find_phrase(words, with, whole, &place, &other) : NULL;
    if (with && !beside) {
        return false;
    }
    *refusal = (struct guardrail_refusal){
        .rule = json_string(rule, "name"),
        .server = json_string(rule, "server"),
        .about = json_string(rule, "about"),
        .phrase = phrase,
        .beside = beside,
    };
    return true;
}

bool guardrails_refuse(const struct guardrails *guardrails, const char *query,
                       struct guardrail_refusal *refusal)
{
    struct query_words words;
    size_t index, most;
    yyjson_val *rule;
    split(&words, query);
    yyjson_arr_foreach(guardrails->rules, index, most, rule)
    {
        if (applies(&words, rule, refusal)) {
            return true;
        }
    }
    return false;
}
