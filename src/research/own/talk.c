/* Chooses what of a conversation a model sees again. */
#include "research/own/talk.h"

#include "text/text.h"

#include <string.h>

#define CUT_WORDS "\n(cut here)"

int talk_add(struct arena *arena, struct talk *talk, const struct turn *turn)
{
    struct turn *turns =
        arena_grow(arena, talk->turns, talk->count, &talk->capacity, sizeof *talk->turns);
    if (!turns) {
        return ERR_NOMEM;
    }
    talk->turns = turns;
    turns[talk->count++] = *turn;
    return OK;
}

/* ---- how large ---- */

static size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

/* A turn goes out as it came, with its reasoning, which may be most of it. */
static size_t said_length(const struct model_reply *reply)
{
    if (reply->echo) {
        return strlen(reply->echo);
    }
    size_t length = length_of(reply->text);
    for (size_t i = 0; i < reply->use_count; i++) {
        length += length_of(reply->uses[i].raw) + length_of(reply->uses[i].name);
    }
    return length;
}

static size_t told_length(const struct turn *turn)
{
    size_t length = 0;
    for (size_t i = 0; i < turn->told_count; i++) {
        length += length_of(turn->told[i].text);
    }
    return length;
}

size_t talk_bytes(const struct model_message *messages, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        length += length_of(messages[i].text);
        length += messages[i].reply ? said_length(messages[i].reply) : 0;
    }
    return length;
}

void talk_go_plain(struct talk *talk)
{
    size_t kept = talk->count;
    while (kept && !talk->turns[kept - 1].reply->use_count) {
        kept--;
    }
    if (kept) {
        memmove(talk->turns, talk->turns + kept, (talk->count - kept) * sizeof *talk->turns);
    }
    talk->count -= kept;
}

bool talk_fold(struct talk *talk)
{
    if (talk->room <= TALK_LEAST_ROOM) {
        return false;
    }
    talk->room = talk->room / 2 > TALK_LEAST_ROOM ? talk->room / 2 : TALK_LEAST_ROOM;
    return true;
}

/* ---- messages ---- */

/* The first turn that is seen again. */
static size_t first_seen(const struct talk *talk)
{
    size_t first = talk->count;
    size_t taken = 0;
    while (first) {
        const struct turn *turn = &talk->turns[first - 1];
        taken += told_length(turn) + said_length(turn->reply);
        if (taken > talk->room && first < talk->count) {
            break;
        }
        first--;
    }
    return first;
}

/* What is told, cut to its share where the turn alone is larger than the room. */
static const char *fitting(struct arena *arena, const struct talk *talk, const struct turn *turn,
                           const char *text)
{
    size_t share = talk->room / (turn->told_count ? turn->told_count : 1);
    size_t length = length_of(text);
    if (told_length(turn) <= talk->room || length <= share) {
        return text;
    }
    size_t kept = share;
    while (kept && ((unsigned char)text[kept] & 0xC0) == 0x80) {
        kept--; /* between two characters */
    }
    return arena_printf(arena, "%.*s" CUT_WORDS, (int)kept, text);
}

const struct model_message *talk_messages(struct arena *arena, const struct talk *talk,
                                          const char *state, size_t *count)
{
    size_t first = first_seen(talk);
    size_t most = 1;
    for (size_t i = first; i < talk->count; i++) {
        most += 1 + talk->turns[i].told_count;
    }
    struct model_message *messages = arena_zalloc(arena, most * sizeof *messages);
    if (!messages) {
        return NULL;
    }
    messages[0] = (struct model_message){.role = MODEL_USER, .text = state};
    *count = 1;
    for (size_t i = first; i < talk->count; i++) {
        const struct turn *turn = &talk->turns[i];
        messages[(*count)++] =
            (struct model_message){.role = MODEL_ASSISTANT, .reply = turn->reply};
        for (size_t j = 0; j < turn->told_count; j++) {
            const struct told *told = &turn->told[j];
            messages[(*count)++] = (struct model_message){
                .role = told->use ? MODEL_RESULT : MODEL_USER,
                .text = fitting(arena, talk, turn, told->text),
                .use = told->use,
                .failed = told->failed,
            };
        }
    }
    return arena_failed(arena) ? NULL : messages;
}
