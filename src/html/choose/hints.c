/* How an attribute is cut into words. The words are in data/page-hints.txt. */
#include "html/choose/hints.h"

#include "tables.h"

#include <stdbool.h>

enum { LONGEST_WORD = 24, LONGEST_SCRAP = 3 };

/* Words in a row are gathered without their separators: `start` is where the newest begins,
 * `before` where the one before it does. */
struct run_of_words {
    char letters[4 * LONGEST_WORD];
    size_t length, start, before, earlier;
    bool scrap; /* the newest follows a digit: a piece of a number such as "3e5ad1" */
    uint32_t hints;
};

static uint32_t look_up_range(const struct run_of_words *run, size_t from)
{
    size_t length = run->length - from;
    if (length < 2 || length > LONGEST_WORD) {
        return 0;
    }
    return words_value(&page_hints, run->letters + from, length);
}

static void end_word(struct run_of_words *run)
{
    if (run->length == run->start) {
        return;
    }
    if (run->scrap && run->length - run->start <= LONGEST_SCRAP) {
        run->length = run->start;
        return;
    }
    run->hints |= look_up_range(run, run->start);
    if (run->before < run->start) {
        run->hints |= look_up_range(run, run->before);
    }
    if (run->earlier < run->before) {
        run->hints |= look_up_range(run, run->earlier);
    }
    run->earlier = run->before;
    run->before = run->start;
    run->start = run->length;
}

static void end_run(struct run_of_words *run)
{
    end_word(run);
    run->length = run->start = run->before = run->earlier = 0;
    run->scrap = false;
}

uint32_t hints_of(const unsigned char *text, size_t length)
{
    struct run_of_words run = {.length = 0};
    bool small = false; /* the last letter was a small one */
    for (size_t i = 0; i < length; i++) {
        unsigned char letter = text[i];
        bool is_small = letter >= 'a' && letter <= 'z';
        bool is_large = letter >= 'A' && letter <= 'Z';
        if (letter == ' ' || letter == '\n' || letter == '\t' || run.length >= 3 * LONGEST_WORD) {
            end_run(&run);
            small = false;
            if (!is_small && !is_large) {
                continue;
            }
        }
        if (!is_small && !is_large) {
            end_word(&run);
            small = false;
            run.scrap = letter >= '0' && letter <= '9';
            continue;
        }
        if (is_large && small) {
            end_word(&run);
            run.scrap = false;
        }
        run.letters[run.length++] = (char)(is_large ? letter + 32 : letter);
        small = is_small;
    }
    end_run(&run);
    return run.hints;
}
