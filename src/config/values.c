/* Reading values, a function for each kind. */
#include "config/values.h"

#include "core/limits.h"
#include "core/status.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

typedef int (*reader)(const struct variable *variable, const char *text, struct arena *arena,
                      struct config_value *value);

static const struct {
    const char *word;
    int64_t number;
} BOOLEANS[] = {{"1", 1}, {"true", 1},  {"yes", 1}, {"on", 1},
                {"0", 0}, {"false", 0}, {"no", 0},  {"off", 0}};

/* The smallest first. */
struct value_unit {
    const char *word;
    const char *several;
    int64_t worth;
};

static const struct value_unit TIMES[] = {{"ms", "milliseconds", 1},
                                          {"s", "seconds", 1000},
                                          {"m", "minutes", 60000},
                                          {"h", "hours", 3600000},
                                          {"d", "days", 86400000}};

static const struct value_unit SIZES[] = {
    {"B", "bytes", 1},
    {"KB", NULL, 1000},
    {"KiB", NULL, INT64_C(1) << 10},
    {"MB", NULL, 1000000},
    {"MiB", NULL, INT64_C(1) << 20},
    {"GB", NULL, 1000000000},
    {"GiB", NULL, INT64_C(1) << 30},
    {"TB", NULL, 1000000000000},
};

/* ---- numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits up to 15 of them, which is far from an overflow; NULL for anything else. */
static const char *read_digits(const char *text, int64_t *number)
{
    const char *start = text;
    *number = 0;
    while (is_digit(*text)) {
        *number = *number * 10 + (*text++ - '0');
        if (text - start > 15) {
            return NULL;
        }
    }
    return text > start ? text : NULL;
}

static int read_integer(const struct variable *variable, const char *text, struct arena *arena,
                        struct config_value *value)
{
    (void)arena;
    bool negative = *text == '-';
    const char *end = read_digits(text + negative, &value->number);
    if (!end || *end) {
        return ERR_INVALID;
    }
    value->number = negative ? -value->number : value->number;
    bool fits = value->number >= variable->least && value->number <= variable->most;
    return fits ? OK : ERR_INVALID;
}

/* A number and its unit; a plain one counts `plain`. */
static int read_with_unit(const struct variable *variable, const char *text,
                          const struct value_unit *units, size_t count, int64_t plain,
                          struct config_value *value)
{
    int64_t whole, fraction = 0, scale = 1;
    const char *end = read_digits(text, &whole);
    if (end && *end == '.') {
        const char *start = end + 1;
        end = read_digits(start, &fraction);
        if (!end || end - start > 3) {
            return ERR_INVALID;
        }
        for (; start < end; start++) {
            scale *= 10;
        }
    }
    if (!end) {
        return ERR_INVALID;
    }
    int64_t unit = *end ? 0 : plain;
    for (size_t i = 0; i < count; i++) {
        unit = strcasecmp(end, units[i].word) == 0 ? units[i].worth : unit;
    }
    if (unit == 0 || whole > variable->most / unit) {
        return ERR_INVALID;
    }
    value->number = whole * unit + fraction * unit / scale;
    bool fits = value->number >= variable->least && value->number <= variable->most;
    return fits ? OK : ERR_INVALID;
}

static int read_duration(const struct variable *variable, const char *text, struct arena *arena,
                         struct config_value *value)
{
    (void)arena;
    return read_with_unit(variable, text, TIMES, COUNT(TIMES), variable->unit_ms, value);
}

static int read_size(const struct variable *variable, const char *text, struct arena *arena,
                     struct config_value *value)
{
    (void)arena;
    return read_with_unit(variable, text, SIZES, COUNT(SIZES), 1, value);
}

/* ---- words ---- */

static int read_boolean(const struct variable *variable, const char *text, struct arena *arena,
                        struct config_value *value)
{
    (void)variable;
    (void)arena;
    for (size_t i = 0; i < COUNT(BOOLEANS); i++) {
        if (strcasecmp(text, BOOLEANS[i].word) == 0) {
            value->number = BOOLEANS[i].number;
            value->text = value->number ? "true" : "false";
            return OK;
        }
    }
    return ERR_INVALID;
}

static int read_choice(const struct variable *variable, const char *text, struct arena *arena,
                       struct config_value *value)
{
    (void)arena;
    for (const char *const *word = variable->words; *word; word++) {
        if (strcasecmp(text, *word) == 0) {
            value->text = *word;
            return OK;
        }
    }
    return ERR_INVALID;
}

static int read_text(const struct variable *variable, const char *text, struct arena *arena,
                     struct config_value *value)
{
    (void)variable;
    (void)text;
    (void)arena;
    (void)value;
    return OK;
}

/* ---- lists ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The first item of *text, without blanks around it; *text moves behind its comma. */
static const char *next_item(const char **text, size_t *length)
{
    const char *start = *text;
    const char *end = start + strcspn(start, ",");
    *text = *end ? end + 1 : end;
    while (start < end && is_blank(*start)) {
        start++;
    }
    while (end > start && is_blank(end[-1])) {
        end--;
    }
    *length = (size_t)(end - start);
    return start;
}

static int read_list(const struct variable *variable, const char *text, struct arena *arena,
                     struct config_value *value)
{
    (void)variable;
    size_t most = 1;
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ',')) {
        most++;
    }
    const char **items = arena_zalloc(arena, (most + 1) * sizeof *items);
    if (!items) {
        return ERR_NOMEM;
    }
    while (*text) {
        size_t length;
        const char *item = next_item(&text, &length);
        if (length > 0) {
            items[value->item_count] = arena_strndup(arena, item, length);
            if (!items[value->item_count++]) {
                return ERR_NOMEM;
            }
        }
    }
    value->items = items;
    return OK;
}

/* ---- all kinds ---- */

static const reader READERS[] = {
    [VARIABLE_TEXT] = read_text,       [VARIABLE_INTEGER] = read_integer,
    [VARIABLE_BOOLEAN] = read_boolean, [VARIABLE_DURATION] = read_duration,
    [VARIABLE_LIST] = read_list,       [VARIABLE_CHOICE] = read_choice,
    [VARIABLE_PATH] = read_text,       [VARIABLE_SIZE] = read_size,
};

/* A copy without blanks around it, and with the home folder in place of ~ for a path. */
static const char *clean_copy(const struct variable *variable, const char *text, const char *home,
                              struct arena *arena)
{
    if (variable->kind == VARIABLE_PATH && home && strncmp(text, "~/", 2) == 0) {
        return arena_printf(arena, "%s%s", home, text + 1);
    }
    size_t length = strlen(text);
    while (length > 0 && is_blank(*text)) {
        text++;
        length--;
    }
    while (length > 0 && is_blank(text[length - 1])) {
        length--;
    }
    return arena_strndup(arena, text, length);
}

int value_parse(const struct variable *variable, const char *text, const char *home,
                struct arena *arena, struct config_value *value)
{
    static const char *const NOTHING[] = {NULL};
    *value = (struct config_value){.items = NOTHING};
    if (!text) {
        return OK;
    }
    size_t length = strlen(text);
    if (length > LIMIT_CONFIG_VALUE_BYTES || !text_is_utf8(text, length)) {
        return ERR_INVALID;
    }
    value->text = clean_copy(variable, text, home, arena);
    return value->text ? READERS[variable->kind](variable, value->text, arena, value) : ERR_NOMEM;
}

/* ---- what is allowed ---- */

/* In the largest unit that divides it. */
static void put_with_unit(struct text_out *out, int64_t number, const struct value_unit *units,
                          size_t count)
{
    size_t unit = count - 1;
    while (unit > 0 && (number == 0 || number % units[unit].worth != 0)) {
        unit--;
    }
    text_putf(out, "%" PRId64 "%s", number / units[unit].worth, units[unit].word);
}

void value_put_duration(struct text_out *out, int64_t duration_ms)
{
    put_with_unit(out, duration_ms, TIMES, COUNT(TIMES));
}

void value_put_size(struct text_out *out, int64_t bytes)
{
    put_with_unit(out, bytes, SIZES, COUNT(SIZES));
}

static void put_duration_range(struct text_out *out, const struct variable *variable)
{
    text_put(out, "a duration from ");
    value_put_duration(out, variable->least);
    text_put(out, " to ");
    value_put_duration(out, variable->most);
    text_put(out, ", such as 30s or 2m");
    for (size_t i = 0; i < COUNT(TIMES); i++) {
        if (TIMES[i].worth == variable->unit_ms) {
            text_putf(out, " (a plain number counts %s)", TIMES[i].several);
        }
    }
}

void value_put_allowed(struct text_out *out, const struct variable *variable)
{
    switch (variable->kind) {
    case VARIABLE_TEXT:
        text_put(out, "text");
        break;
    case VARIABLE_INTEGER:
        text_putf(out, "an integer from %" PRId64 " to %" PRId64, variable->least, variable->most);
        break;
    case VARIABLE_BOOLEAN:
        text_put(out, "true or false (also 1/0, yes/no, on/off)");
        break;
    case VARIABLE_DURATION:
        put_duration_range(out, variable);
        break;
    case VARIABLE_SIZE:
        text_put(out, "a size from ");
        value_put_size(out, variable->least);
        text_put(out, " to ");
        value_put_size(out, variable->most);
        text_put(out, ", such as 100MB or 2GiB (a plain number counts bytes)");
        break;
    case VARIABLE_LIST:
        text_put(out, "a list separated by commas");
        break;
    case VARIABLE_CHOICE:
        text_put(out, "one of ");
        for (const char *const *word = variable->words; *word; word++) {
            text_putf(out, "%s%s", word == variable->words ? "" : ", ", *word);
        }
        break;
    case VARIABLE_PATH:
        text_put(out, "a path");
        break;
    }
}
