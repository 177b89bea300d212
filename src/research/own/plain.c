/* Reads the plain format, line by line. */
#include "research/own/plain.h"

#include "core/limits.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum line_kind {
    LINE_PLAN,
    LINE_SEARCH,
    LINE_READ,
    LINE_NOTE,
    LINE_OPEN,
    LINE_DISPUTED,
    LINE_DONE
};

static const struct {
    const char *word;
    enum line_kind kind;
    enum move_kind move;
} LINES[] = {
    {"PLAN", LINE_PLAN, MOVE_PLAN},       {"SEARCH", LINE_SEARCH, MOVE_SEARCH},
    {"READ", LINE_READ, MOVE_READ},       {"NOTE", LINE_NOTE, MOVE_NOTE},
    {"OPEN", LINE_OPEN, MOVE_FINISH},     {"DISPUTED", LINE_DISPUTED, MOVE_FINISH},
    {"DONE", LINE_DONE, MOVE_FINISH},     {"FINISH", LINE_DONE, MOVE_FINISH},
    {"FINISHED", LINE_DONE, MOVE_FINISH},
};

/* ---- a line ---- */

/* Without blanks, marks of emphasis, brackets and quotation marks around it. */
static char *stripped(char *text)
{
    static const char AROUND[] = " \t\r*`_\"<>";
    static const char *const CURLED[] = {"\xe2\x80\x9c", "\xe2\x80\x9d"};
    text += strspn(text, AROUND);
    for (size_t i = 0; i < 2; i++) {
        text += strncmp(text, CURLED[i], 3) == 0 ? 3 : 0;
    }
    size_t length = strlen(text);
    for (;;) {
        if (length && strchr(AROUND, text[length - 1])) {
            length--;
        } else if (length >= 3 && (memcmp(text + length - 3, CURLED[0], 3) == 0 ||
                                   memcmp(text + length - 3, CURLED[1], 3) == 0)) {
            length -= 3;
        } else {
            text[length] = '\0';
            return text;
        }
    }
}

/* What begins a line of a list: "- ", "1. ", "> ", "**". */
static char *after_marks(char *line)
{
    line += strspn(line, " \t-*>`#_+");
    size_t digits = strspn(line, "0123456789");
    if (digits && (line[digits] == '.' || line[digits] == ')')) {
        line += digits + 1;
        line += strspn(line, " \t*`");
    }
    return line;
}

/* The row of LINES that the line begins with, and what follows the word; -1: it is prose. */
static int find_word(char *line, char **rest)
{
    line = after_marks(line);
    size_t length = 0;
    while (isalpha((unsigned char)line[length])) {
        length++;
    }
    for (size_t i = 0; length && i < sizeof LINES / sizeof *LINES; i++) {
        if (strlen(LINES[i].word) != length || strncasecmp(line, LINES[i].word, length) != 0) {
            continue;
        }
        char *after = line + length + strspn(line + length, "*`_ \t");
        bool capitals = strncmp(line, LINES[i].word, length) == 0;
        bool alone =
            LINES[i].kind == LINE_DONE && (!*after || strspn(after, ".! \r") == strlen(after));
        if (*after == ':' || (capitals && LINES[i].kind != LINE_DONE) || alone) {
            *rest = after + (*after == ':');
            return (int)i;
        }
    }
    return -1;
}

/* The next piece before a '|', or NULL. */
static char *next_piece(char **rest)
{
    char *piece = *rest;
    if (!piece) {
        return NULL;
    }
    char *bar = strchr(piece, '|');
    if (bar) {
        *bar = '\0';
    }
    *rest = bar ? bar + 1 : NULL;
    return stripped(piece);
}

static void take_pieces(char *rest, const char *texts[MOVE_TEXTS], size_t *count)
{
    for (char *piece; (piece = next_piece(&rest));) {
        if (*piece && *count < MOVE_TEXTS) {
            texts[(*count)++] = piece;
        }
    }
}

static void take_read(char *rest, struct move *move)
{
    char *numbers = next_piece(&rest);
    char *question = next_piece(&rest);
    char *save = NULL;
    move->question = question && *question ? question : move->question;
    for (char *one = strtok_r(numbers, ",; ", &save); one && move->source_count < MOVE_SOURCES;
         one = strtok_r(NULL, ",; ", &save)) {
        if (strcasecmp(one, "and") != 0 && strcasecmp(one, "source") != 0 &&
            strcasecmp(one, "sources") != 0) {
            move->sources[move->source_count++] = move_number(one);
        }
    }
}

/* A quote may hold a bar: the claim ends at the first, the source begins after the last. */
static void take_note(char *rest, struct move *move)
{
    char *first = strchr(rest, '|');
    char *last = strrchr(rest, '|');
    if (!first || move->note_count == MOVE_NOTES) {
        return;
    }
    *last = '\0';
    if (first != last) {
        *first = '\0';
    }
    char *quote = stripped(first == last ? rest : first + 1);
    move->notes[move->note_count++] = (struct move_note){
        .claim = first == last ? quote : stripped(rest),
        .quote = quote,
        .source = move_number(stripped(last + 1)),
    };
}

/* ---- all of them ---- */

static void take_line(enum line_kind kind, char *rest, struct move *move)
{
    switch (kind) {
    case LINE_READ:
        take_read(rest, move);
        break;
    case LINE_NOTE:
        take_note(rest, move);
        break;
    case LINE_DISPUTED:
        take_pieces(rest, move->disputed, &move->disputed_count);
        break;
    case LINE_DONE:
        break;
    default:
        take_pieces(rest, move->texts, &move->text_count);
    }
}

/* Whether there is anything in it to do. */
static bool is_whole(const struct move *move)
{
    return move->kind == MOVE_FINISH || move->text_count || move->source_count || move->note_count;
}

size_t plain_read(struct arena *arena, const char *words, struct move moves[MOVES_OF_TURN])
{
    char *copy = arena_strdup(arena, words);
    char *save = NULL;
    size_t count = 0;
    bool done = false, open = false;
    for (char *line = copy ? strtok_r(copy, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save)) {
        char *rest;
        int row = find_word(line, &rest);
        if (row < 0) {
            continue;
        }
        struct move *last = count ? &moves[count - 1] : NULL;
        if (!last || last->kind != LINES[row].move) {
            if (count == MOVES_OF_TURN) {
                break;
            }
            last = &moves[count];
            *last = (struct move){.kind = LINES[row].move};
            count++;
        }
        done |= LINES[row].kind == LINE_DONE;
        open |= LINES[row].move == MOVE_FINISH;
        take_line(LINES[row].kind, rest, last);
        count -= !is_whole(last);
    }
    /* What is open ends nothing where something else is still to be done. */
    if (open && !done && count > 1 && moves[count - 1].kind == MOVE_FINISH) {
        count--;
    }
    return count;
}
