/* Fuzzes patterns. The input is a pattern and a text, split by the first NUL or line end. Whatever
 * they are: nothing crashes or runs away, checking and matching agree on which patterns there are,
 * the answers obey the laws of regular expressions, and a text is matched by itself. */
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "registry/pattern.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    const char *pattern;
    size_t pattern_length;
    const char *text;
    size_t text_length;
};

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_pattern: %s\n", what);
        abort();
    }
}

/* The answer for the pattern between two other pieces; -1 when there is none, as the whole may be
 * too large where the part was not. */
static int match_within(const struct input *input, const char *before, const char *after)
{
    struct buf whole;
    buf_init(&whole, MIB(1));
    buf_puts(&whole, before);
    buf_append(&whole, input->pattern, input->pattern_length);
    buf_puts(&whole, after);
    int answer = -1;
    if (buf_error(&whole) == OK) {
        answer = pattern_match(whole.data, whole.length, input->text, input->text_length);
    }
    buf_done(&whole);
    return answer < 0 ? -1 : answer;
}

static void check_laws(const struct input *input, int answer)
{
    int grouped = match_within(input, "(", ")");
    require(grouped < 0 || grouped == answer, "a group changes the answer");
    int once = match_within(input, "(?:", "){1}");
    require(once < 0 || once == answer, "once is not the same");
    int some = match_within(input, "(", ")+");
    require(some < 0 || some == answer, "one or more is not the same in a search");
    require(match_within(input, "(", ")?") != 0, "an option is no option");
    require(match_within(input, "(", ")*") != 0, "none or more is refused");
    int either = match_within(input, "(", ")|[^a]{900}");
    require(either < 0 || !answer || either == 1, "an alternative takes away");
    int whole = match_within(input, "^(?:", ")$");
    require(whole <= 0 || answer == 1, "the whole matches but no part does");
    int twice = match_within(input, "(", "){2}");
    require(twice <= 0 || answer == 1, "two match but not one");
}

/* The pattern that is the text itself, with something around it, on the text `times` times. */
static int match_itself(const struct input *input, const char *before, const char *after, int times)
{
    struct buf pattern, text;
    buf_init(&pattern, MIB(1));
    buf_init(&text, MIB(1));
    buf_puts(&pattern, before);
    for (size_t i = 0; i < input->text_length; i++) {
        char c = input->text[i];
        buf_puts(&pattern, c && strchr("^$\\.*+?()[]{}|/", c) ? "\\" : "");
        buf_putc(&pattern, c);
    }
    buf_puts(&pattern, after);
    for (int i = 0; i < times; i++) {
        buf_append(&text, input->text, input->text_length);
    }
    int answer = -1;
    if (buf_error(&pattern) == OK && buf_error(&text) == OK) {
        answer = pattern_match(pattern.data, pattern.length, text.data, text.length);
    }
    buf_done(&pattern);
    buf_done(&text);
    return answer < 0 ? -1 : answer;
}

static void check_text(const struct input *input)
{
    require(match_itself(input, "", "", 1) != 0, "a text does not hold itself");
    require(match_itself(input, "^", "$", 1) != 0, "a text is not itself");
    require(match_itself(input, "^(?:", ")+$", 3) != 0, "three are not one or more");
    require(match_itself(input, "^(?:", "){2,3}$", 2) != 0, "two are not two or three");
    require(match_itself(input, "^(?:", "){0,3}$", 3) != 0, "three are not up to three");
    if (input->text_length > 0) {
        require(match_itself(input, "^", "$", 2) <= 0, "two are one");
        require(match_itself(input, "^(?:", "){2}$", 3) <= 0, "three are two");
        require(match_itself(input, "^(?:", "){2,}$", 1) <= 0, "one is two or more");
        require(match_itself(input, "^(?:", ")?$", 2) <= 0, "two are one or none");
    }
}

FUZZ_TARGET(pattern)
{
    struct input input = {.pattern = (const char *)data};
    while (input.pattern_length < size && data[input.pattern_length] != '\0' &&
           data[input.pattern_length] != '\n') {
        input.pattern_length++;
    }
    if (input.pattern_length < size) {
        input.text = input.pattern + input.pattern_length + 1;
        input.text_length = size - input.pattern_length - 1;
    } else {
        input.text = input.pattern + size;
    }
    char problem[160];
    int status = pattern_check(input.pattern, input.pattern_length, problem, sizeof problem);
    int answer = pattern_match(input.pattern, input.pattern_length, input.text, input.text_length);
    require(status == OK || status == ERR_INVALID, "an unknown status");
    require((status == OK) == (problem[0] == '\0'), "a message that does not fit the status");
    require((status == OK) == (answer != ERR_INVALID), "check and match disagree");
    if (answer >= 0) {
        check_laws(&input, answer);
    }
    check_text(&input);
    return 0;
}
