/* Patterns: compiled to a list of states with relative jumps, then run over the text with the set
 * of all states that could be reached so far. A block of states is self-contained - it jumps within
 * itself or to its end - so that repetition is a matter of copying the block. */
#include "registry/pattern.h"

#include "core/status.h"
#include "text/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum operation {
    TAKE_ONE,   /* the code point `value` */
    TAKE_ANY,   /* all but line ends */
    TAKE_CLASS, /* the ranges value .. value + count */
    AT_START,
    AT_END,
    SPLIT, /* go on here and at `jump` */
    JUMP,
    ACCEPT,
};

struct pattern_state {
    uint8_t operation;
    bool negated;
    int16_t jump; /* relative to this state */
    uint16_t count;
    uint32_t value;
};

struct class_range {
    uint32_t first, last;
};

struct program {
    struct pattern_state states[PATTERN_MOST_STATES];
    struct class_range ranges[PATTERN_MOST_RANGES];
    size_t state_count, range_count;
};

#define UNLIMITED     SIZE_MAX
#define HIGHEST_COUNT 1000

/* ---- compiling ---- */

struct compiler {
    struct program *program;
    const char *start, *at, *end;
    unsigned groups;
    bool failed;
    struct pattern_state spare; /* written to after a failure, never read */
    struct text_out problem;
};

static const struct class_range DIGITS[] = {{'0', '9'}};
static const struct class_range WORDS[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const struct class_range BLANKS[] = {
    {'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
    {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF},
};

static const struct shorthand {
    char letter;
    uint8_t count;
    const struct class_range *ranges;
} SHORTHANDS[] = {
    {'d', sizeof DIGITS / sizeof *DIGITS, DIGITS},
    {'w', sizeof WORDS / sizeof *WORDS, WORDS},
    {'s', sizeof BLANKS / sizeof *BLANKS, BLANKS},
};

/* Reports the first problem and no other. */
static void refuse(struct compiler *compiler, const char *what)
{
    if (!compiler->failed) {
        compiler->failed = true;
        text_putf(&compiler->problem, "%s (at character %zu)", what,
                  text_count(compiler->start, (size_t)(compiler->at - compiler->start)) + 1);
    }
}

static bool more(const struct compiler *compiler)
{
    return !compiler->failed && compiler->at < compiler->end;
}

/* Whether the next byte is `c`, which is taken then. */
static bool take(struct compiler *compiler, char c)
{
    if (more(compiler) && *compiler->at == c) {
        compiler->at++;
        return true;
    }
    return false;
}

static bool next_is(const struct compiler *compiler, const char *choices)
{
    return more(compiler) && *compiler->at && strchr(choices, *compiler->at);
}

static struct pattern_state *add_state(struct compiler *compiler, enum operation operation)
{
    struct program *program = compiler->program;
    if (program->state_count == PATTERN_MOST_STATES) {
        refuse(compiler, "the pattern is too large");
        return &compiler->spare;
    }
    struct pattern_state *state = &program->states[program->state_count++];
    *state = (struct pattern_state){.operation = (uint8_t)operation};
    return state;
}

/* Makes room for one state in front of the block that begins at `start`. */
static void insert_split(struct compiler *compiler, size_t start, size_t jump)
{
    struct program *program = compiler->program;
    add_state(compiler, SPLIT);
    if (compiler->failed) {
        return;
    }
    memmove(&program->states[start + 1], &program->states[start],
            (program->state_count - 1 - start) * sizeof *program->states);
    program->states[start] = (struct pattern_state){.operation = SPLIT, .jump = (int16_t)jump};
}

static void add_range(struct compiler *compiler, uint32_t first, uint32_t last)
{
    struct program *program = compiler->program;
    if (program->range_count == PATTERN_MOST_RANGES) {
        refuse(compiler, "the pattern has too many classes");
        return;
    }
    program->ranges[program->range_count++] = (struct class_range){first, last};
}

static const struct shorthand *find_shorthand(char letter)
{
    for (size_t i = 0; i < sizeof SHORTHANDS / sizeof *SHORTHANDS; i++) {
        if (SHORTHANDS[i].letter == letter) {
            return &SHORTHANDS[i];
        }
    }
    return NULL;
}

static void add_shorthand(struct compiler *compiler, const struct shorthand *shorthand)
{
    for (size_t i = 0; i < shorthand->count; i++) {
        add_range(compiler, shorthand->ranges[i].first, shorthand->ranges[i].last);
    }
}

/* What follows a backslash and is one code point. */
static uint32_t read_escaped(struct compiler *compiler)
{
    static const char NAMES[] = "nrt";
    static const char MEANINGS[] = "\n\r\t";
    static const char PUNCTUATION[] = "^$\\.*+?()[]{}|/-!\"#%&',:;<=>@_`~";
    if (!more(compiler)) {
        refuse(compiler, "the pattern ends in a backslash");
        return 0;
    }
    char c = *compiler->at;
    const char *name = c ? strchr(NAMES, c) : NULL;
    if (!name && (c == '\0' || !strchr(PUNCTUATION, c))) {
        refuse(compiler, "this escape is not supported");
        return 0;
    }
    compiler->at++;
    return (unsigned char)(name ? MEANINGS[name - NAMES] : c);
}

/* One code point of a class, escaped or not. */
static uint32_t read_class_point(struct compiler *compiler)
{
    if (take(compiler, '\\')) {
        return read_escaped(compiler);
    }
    if (!more(compiler)) {
        refuse(compiler, "a class is not closed with ]");
        return 0;
    }
    return text_next(&compiler->at, compiler->end);
}

static void read_class_item(struct compiler *compiler, bool first)
{
    if (compiler->end - compiler->at >= 2 && compiler->at[0] == '\\') {
        const struct shorthand *shorthand = find_shorthand(compiler->at[1]);
        if (shorthand) {
            compiler->at += 2;
            add_shorthand(compiler, shorthand);
            return;
        }
    }
    bool dash = next_is(compiler, "-");
    uint32_t low = read_class_point(compiler);
    if (dash && !first && more(compiler) && !next_is(compiler, "]")) {
        refuse(compiler, "a - in a class stands between two characters, first or last");
        return;
    }
    uint32_t high = low;
    bool range =
        compiler->end - compiler->at >= 2 && compiler->at[0] == '-' && compiler->at[1] != ']';
    if (range) {
        compiler->at++;
        if (compiler->end - compiler->at >= 2 && compiler->at[0] == '\\' &&
            find_shorthand(compiler->at[1])) {
            refuse(compiler, "a range cannot end in a class");
            return;
        }
        high = read_class_point(compiler);
    }
    if (high < low) {
        refuse(compiler, "a range runs backwards");
    }
    add_range(compiler, low, high);
}

static void read_class(struct compiler *compiler)
{
    struct program *program = compiler->program;
    size_t first_range = program->range_count;
    bool negated = take(compiler, '^');
    if (next_is(compiler, "]")) {
        refuse(compiler, "a class is empty");
        return;
    }
    bool first = true;
    while (!compiler->failed && !take(compiler, ']')) {
        read_class_item(compiler, first);
        first = false;
    }
    struct pattern_state *state = add_state(compiler, TAKE_CLASS);
    state->negated = negated;
    state->value = (uint32_t)first_range;
    state->count = (uint16_t)(program->range_count - first_range);
}

static void read_backslash(struct compiler *compiler)
{
    const struct shorthand *shorthand = more(compiler) ? find_shorthand(*compiler->at) : NULL;
    if (!shorthand) {
        uint32_t value = read_escaped(compiler);
        add_state(compiler, TAKE_ONE)->value = value;
        return;
    }
    compiler->at++;
    uint32_t first_range = (uint32_t)compiler->program->range_count;
    add_shorthand(compiler, shorthand);
    struct pattern_state *state = add_state(compiler, TAKE_CLASS);
    state->value = first_range;
    state->count = shorthand->count;
}

static void read_alternatives(struct compiler *compiler);

static void read_group(struct compiler *compiler)
{
    if (take(compiler, '?') && !take(compiler, ':')) {
        refuse(compiler, "of the groups with (? only (?: is supported");
        return;
    }
    if (++compiler->groups > PATTERN_MOST_GROUPS) {
        refuse(compiler, "groups are nested too deeply");
        return;
    }
    read_alternatives(compiler);
    compiler->groups--;
    if (!take(compiler, ')')) {
        refuse(compiler, "a group is not closed with )");
    }
}

/* One thing that can be repeated; false for an anchor, which cannot. */
static bool read_atom(struct compiler *compiler)
{
    if (next_is(compiler, "*+?{")) {
        refuse(compiler, "there is nothing to repeat");
        return false;
    }
    if (next_is(compiler, "]}")) {
        refuse(compiler, "this bracket closes nothing; write \\ before it");
        return false;
    }
    if (take(compiler, '^')) {
        add_state(compiler, AT_START);
        return false;
    }
    if (take(compiler, '$')) {
        add_state(compiler, AT_END);
        return false;
    }
    if (take(compiler, '(')) {
        read_group(compiler);
    } else if (take(compiler, '[')) {
        read_class(compiler);
    } else if (take(compiler, '\\')) {
        read_backslash(compiler);
    } else if (take(compiler, '.')) {
        add_state(compiler, TAKE_ANY);
    } else {
        uint32_t value = text_next(&compiler->at, compiler->end);
        add_state(compiler, TAKE_ONE)->value = value;
    }
    return true;
}

static size_t read_count(struct compiler *compiler)
{
    size_t count = 0;
    bool any = false;
    while (more(compiler) && *compiler->at >= '0' && *compiler->at <= '9') {
        count = count * 10 + (size_t)(*compiler->at++ - '0');
        any = true;
        if (count > HIGHEST_COUNT) {
            refuse(compiler, "a repetition is larger than 1000");
        }
    }
    if (!any) {
        refuse(compiler, "a repetition is {m}, {m,} or {m,n}");
    }
    return count;
}

static bool read_repetition(struct compiler *compiler, size_t *least, size_t *most)
{
    static const struct {
        char sign;
        size_t least, most;
    } SIGNS[] = {{'*', 0, UNLIMITED}, {'+', 1, UNLIMITED}, {'?', 0, 1}};
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        if (take(compiler, SIGNS[i].sign)) {
            *least = SIGNS[i].least;
            *most = SIGNS[i].most;
            return true;
        }
    }
    if (!take(compiler, '{')) {
        return false;
    }
    *least = *most = read_count(compiler);
    if (take(compiler, ',')) {
        *most = next_is(compiler, "}") ? UNLIMITED : read_count(compiler);
    }
    if (!take(compiler, '}')) {
        refuse(compiler, "a repetition is {m}, {m,} or {m,n}");
    }
    if (*most < *least) {
        refuse(compiler, "a repetition runs backwards");
    }
    return true;
}

static void copy_block(struct compiler *compiler, size_t start, size_t length)
{
    for (size_t i = 0; i < length && !compiler->failed; i++) {
        enum operation operation = compiler->program->states[start + i].operation;
        *add_state(compiler, operation) = compiler->program->states[start + i];
    }
}

static int16_t back(size_t states)
{
    return (int16_t)(-(int)states);
}

/* Turns the block at `start`, which stands there once, into its repetition. */
static void repeat(struct compiler *compiler, size_t start, size_t least, size_t most)
{
    struct program *program = compiler->program;
    size_t length = program->state_count - start;
    if (most == 0) {
        program->state_count = start;
        return;
    }
    if (length == 0) {
        return; /* nothing, repeated */
    }
    if (least == 0 && most == UNLIMITED) {
        insert_split(compiler, start, length + 2);
        add_state(compiler, JUMP)->jump = back(length + 1);
        return;
    }
    size_t optional = most == UNLIMITED ? 0 : most - least;
    size_t block = start;
    if (least == 0) {
        insert_split(compiler, start, optional * (length + 1));
        block++;
        optional--;
    }
    for (size_t i = 1; i < least && !compiler->failed; i++) {
        copy_block(compiler, block, length);
    }
    if (most == UNLIMITED) {
        add_state(compiler, SPLIT)->jump = back(length);
    }
    for (; optional > 0 && !compiler->failed; optional--) {
        add_state(compiler, SPLIT)->jump = (int16_t)(optional * (length + 1));
        copy_block(compiler, block, length);
    }
}

static void read_sequence(struct compiler *compiler)
{
    while (more(compiler) && !next_is(compiler, "|)")) {
        size_t start = compiler->program->state_count;
        bool repeatable = read_atom(compiler);
        const char *sign = compiler->at;
        size_t least, most;
        if (compiler->failed || !read_repetition(compiler, &least, &most)) {
            continue;
        }
        if (!repeatable) {
            compiler->at = sign;
            refuse(compiler, "an anchor cannot be repeated");
        } else if (next_is(compiler, "*+?{")) {
            refuse(compiler, "a repetition cannot be repeated");
        } else if (!compiler->failed) {
            repeat(compiler, start, least, most);
        }
    }
}

static void read_alternatives(struct compiler *compiler)
{
    size_t start = compiler->program->state_count;
    read_sequence(compiler);
    if (!take(compiler, '|')) {
        return;
    }
    size_t length = compiler->program->state_count - start;
    insert_split(compiler, start, length + 2);
    size_t jump = compiler->program->state_count;
    add_state(compiler, JUMP);
    read_alternatives(compiler);
    if (!compiler->failed) {
        compiler->program->states[jump].jump = (int16_t)(compiler->program->state_count - jump);
    }
}

static int compile(struct program *program, const char *pattern, size_t length, char *problem,
                   size_t size)
{
    struct compiler compiler = {
        .program = program, .start = pattern, .at = pattern, .end = pattern + length};
    program->state_count = program->range_count = 0;
    text_start(&compiler.problem, problem, size);
    if (!text_is_utf8(pattern, length)) {
        refuse(&compiler, "the pattern is not UTF-8");
    }
    read_alternatives(&compiler);
    if (more(&compiler)) {
        refuse(&compiler, "this ) closes nothing; write \\ before it");
    }
    add_state(&compiler, ACCEPT);
    return compiler.failed ? ERR_INVALID : OK;
}

int pattern_check(const char *pattern, size_t length, char *problem, size_t size)
{
    struct program program;
    return compile(&program, pattern, length, problem, size);
}

/* ---- matching ---- */

struct set {
    uint16_t states[PATTERN_MOST_STATES];
    size_t count;
};

struct match {
    const struct program *program;
    size_t position;                  /* in code points */
    size_t seen[PATTERN_MOST_STATES]; /* the position, plus one, at which a state was last added */
    uint16_t waiting[PATTERN_MOST_STATES];
    size_t waiting_count;
    size_t steps;
    bool at_end, accepted;
};

static void push(struct match *match, size_t state)
{
    if (match->seen[state] != match->position + 1) {
        match->seen[state] = match->position + 1;
        match->waiting[match->waiting_count++] = (uint16_t)state;
    }
}

/* Adds `state` and all that it reaches without taking a code point. */
static void follow(struct match *match, struct set *set, size_t state)
{
    push(match, state);
    while (match->waiting_count > 0) {
        size_t index = match->waiting[--match->waiting_count];
        const struct pattern_state *here = &match->program->states[index];
        size_t target = (size_t)((long)index + here->jump);
        match->steps++;
        switch ((enum operation)here->operation) {
        case JUMP:
            push(match, target);
            break;
        case SPLIT:
            push(match, target);
            push(match, index + 1);
            break;
        case AT_START:
            if (match->position == 0) {
                push(match, index + 1);
            }
            break;
        case AT_END:
            if (match->at_end) {
                push(match, index + 1);
            }
            break;
        case ACCEPT:
            match->accepted = true;
            break;
        case TAKE_ONE:
        case TAKE_ANY:
        case TAKE_CLASS:
            set->states[set->count++] = (uint16_t)index;
            break;
        }
    }
}

static bool takes(struct match *match, const struct pattern_state *state, uint32_t point)
{
    if (state->operation == TAKE_ONE) {
        return point == state->value;
    }
    if (state->operation == TAKE_ANY) {
        return point != '\n' && point != '\r' && point != 0x2028 && point != 0x2029;
    }
    const struct class_range *ranges = &match->program->ranges[state->value];
    match->steps += state->count;
    for (size_t i = 0; i < state->count; i++) {
        if (point >= ranges[i].first && point <= ranges[i].last) {
            return !state->negated;
        }
    }
    return state->negated;
}

static int run(const struct program *program, const char *text, size_t length)
{
    struct match match = {.program = program, .at_end = length == 0};
    struct set sets[2];
    struct set *current = &sets[0];
    struct set *next = &sets[1];
    const char *end = text + length;
    current->count = 0;
    follow(&match, current, 0);
    while (!match.accepted && text < end) {
        uint32_t point = text_next(&text, end);
        match.position++;
        match.at_end = text == end;
        next->count = 0;
        for (size_t i = 0; i < current->count; i++) {
            if (takes(&match, &program->states[current->states[i]], point)) {
                follow(&match, next, current->states[i] + 1u);
            }
        }
        follow(&match, next, 0); /* a match may begin anywhere */
        struct set *swapped = current;
        current = next;
        next = swapped;
        if (match.steps > PATTERN_MOST_STEPS) {
            return ERR_LIMIT;
        }
    }
    return match.accepted;
}

int pattern_match(const char *pattern, size_t length, const char *text, size_t text_length)
{
    struct program program;
    int status = compile(&program, pattern, length, NULL, 0);
    return status == OK ? run(&program, text, text_length) : status;
}
