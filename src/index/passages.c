/* Cutting a text into passages: words are counted, and the best place to cut is taken among those
 * that leave a passage about as long as the others. */
#include "index/passages.h"

#include "index/fold.h"
#include "text/sentences.h"
#include "text/text.h"

/* Code points of a word, and of what stands between words, that count as one word; more of them
 * count as several. */
#define LONG_WORD 12u
#define LONG_GAP  16u

/* How good a place to cut is. */
enum passage_cut { CUT_INSIDE, CUT_WORD, CUT_LINE, CUT_SENTENCE, CUT_SENTENCE_LINE, CUT_PARAGRAPH };

struct word_at {
    size_t start, end;
    size_t cut_at; /* where the text is cut, if it is cut before this word */
    enum passage_cut cut;
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void offer(struct word_at *word, enum passage_cut cut, size_t at)
{
    if (cut > word->cut) {
        word->cut = cut;
        word->cut_at = at;
    }
}

/* Looks at what stands before a word, from `from` on: how good it is to cut there, and where. Ends
 * at the word's first code point, or where the gap is so long that it counts as a word. */
static const char *read_gap(const struct passages *passages, const char *from, struct word_at *word,
                            bool *is_word)
{
    const char *end = passages->text + passages->length;
    unsigned int points = 0, lines = 0;
    bool sentence = false, alone = false;
    *is_word = false;
    for (const char *at = from, *next; at < end; at = next) {
        next = at;
        uint32_t point = text_next(&next, end);
        if (fold_class(point) != FOLD_GAP) {
            *is_word = true;
            return at;
        }
        if (points++ == LONG_GAP) {
            return at;
        }
        bool mark_alone;
        size_t offset = (size_t)(at - passages->text);
        if (point < 128 && is_blank((char)point)) {
            lines += point == '\n';
            enum passage_cut cut = lines > 1                ? CUT_PARAGRAPH
                                   : lines == 1 && sentence ? CUT_SENTENCE_LINE
                                   : sentence               ? CUT_SENTENCE
                                   : lines == 1             ? CUT_LINE
                                                            : CUT_WORD;
            offer(word, cut, offset + 1);
        } else if (sentence_stops(point, &mark_alone)) {
            sentence = true;
            alone |= mark_alone;
        } else if (!sentence_closes(point)) {
            alone = false;
        }
        if (alone && word->cut <= CUT_SENTENCE) { /* with what closes it */
            word->cut = CUT_SENTENCE;
            word->cut_at = (size_t)(next - passages->text);
        }
    }
    return end;
}

/* The word at or behind `from`; false: there is none. */
static bool next_word(const struct passages *passages, size_t from, struct word_at *word)
{
    const char *end = passages->text + passages->length;
    bool is_word;
    *word = (struct word_at){.cut = CUT_INSIDE, .cut_at = from};
    const char *start = read_gap(passages, passages->text + from, word, &is_word);
    const char *at = start;
    word->start = (size_t)(start - passages->text);
    if (!is_word) {
        word->start = from;
        word->end = (size_t)(start - passages->text);
        return word->end > from;
    }
    enum fold_class class = fold_class(text_next(&at, end));
    if (class == FOLD_UNSPACED) {
        offer(word, CUT_WORD, word->start);
        word->end = (size_t)(at - passages->text);
        return true;
    }
    unsigned int points = 1;
    for (const char *next = at; next < end && points < LONG_WORD; at = next, points++) {
        if (fold_class(text_next(&next, end)) != FOLD_WORD) {
            break;
        }
    }
    word->end = (size_t)(at - passages->text);
    return true;
}

void passages_begin(struct passages *passages, const char *text, size_t length)
{
    struct word_at word = {0};
    *passages = (struct passages){.text = text, .length = length};
    while (next_word(passages, word.end, &word)) {
        passages->left++;
    }
}

/* Where the passage that begins at `at` ends: the best cut of those that leave it not much shorter
 * or longer than the rest of the text wants, and of these the one nearest to that. */
static size_t choose_end(struct passages *passages)
{
    size_t parts = (passages->left + PASSAGE_WORDS - 1) / PASSAGE_WORDS;
    size_t wanted = passages->left / parts;
    size_t most = wanted + wanted / 4;
    size_t best_words = 0, best_distance = 0;
    size_t end = passages->length;
    struct word_at word = {.end = passages->at};
    enum passage_cut best = CUT_INSIDE;
    for (size_t words = 0; words <= most && next_word(passages, word.end, &word); words++) {
        size_t distance = words < wanted ? wanted - words : words - wanted;
        if (words < wanted / 2 || (best_words && word.cut < best) ||
            (best_words && word.cut == best && distance >= best_distance)) {
            continue;
        }
        best = word.cut;
        best_words = words;
        best_distance = distance;
        end = word.cut_at;
    }
    passages->left = best_words ? passages->left - best_words : 0;
    return end;
}

bool passages_next(struct passages *passages, struct passage *passage)
{
    while (passages->left > 0) {
        size_t end = passages->length;
        if (passages->left > PASSAGE_MOST_WORDS) {
            end = choose_end(passages);
        } else {
            passages->left = 0;
        }
        *passage = (struct passage){passages->at, end};
        passages->at = end;
        while (passage->start < passage->end && is_blank(passages->text[passage->start])) {
            passage->start++;
        }
        while (passage->end > passage->start && is_blank(passages->text[passage->end - 1])) {
            passage->end--;
        }
        if (passage->end > passage->start) {
            return true;
        }
    }
    return false;
}
