/* The settings file as systemd reads it (EnvironmentFile=): lines that it reads as we do, lines
 * that it reads otherwise, which the parser marks, and many made-up files. The rules of systemd
 * stand here a second time; where its library is on the machine, they are compared with it. */
#include "config/config_docs.h"
#include "config/envfile.h"
#include "core/limits.h"
#include "core/status.h"
#include "unit.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES KIB(64)

/* ---- systemd's rules ---- */

/* Settings as "KEY=value" lines. Of a name that comes twice the last counts, in the place of the
 * first. */
struct list {
    char *items[ENVFILE_MOST_ENTRIES];
    size_t count;
};

static void put(struct arena *arena, struct list *list, const char *key, const char *value)
{
    size_t length = strlen(key);
    size_t at = 0;
    while (at < list->count &&
           (strncmp(list->items[at], key, length) != 0 || list->items[at][length] != '=')) {
        at++;
    }
    assert_true(at < ENVFILE_MOST_ENTRIES);
    list->items[at] = arena_printf(arena, "%s=%s", key, value);
    list->count += at == list->count;
}

static char *joined(struct arena *arena, const struct list *list)
{
    char *text = arena_strdup(arena, "");
    for (size_t i = 0; i < list->count; i++) {
        text = arena_printf(arena, "%s%s\n", text, list->items[i]);
    }
    return text;
}

/* What systemd does not take for a variable, it leaves out. */
static bool is_name(const char *key)
{
    return *key && (*key < '0' || *key > '9') &&
           strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
               strlen(key);
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void cut_end(char *text, size_t length)
{
    while (length > 0 && is_white(text[length - 1])) {
        length--;
    }
    text[length] = '\0';
}

/* A value from behind the = on: quotes may open and close in it, a \ before the line's end joins
 * lines, and nothing is a comment. Returns where the next line begins. */
static const char *read_value(const char *at, char *value)
{
    size_t length = 0;
    size_t kept = 0; /* so much of the end is no blank that could be dropped */
    char quote = '\0';
    bool begun = false; /* outside quotes, something was there */
    for (; *at && (quote || (*at != '\n' && *at != '\r')); at++) {
        if (quote && *at == quote) {
            quote = '\0';
            kept = length;
            begun = false;
        } else if (quote == '"' && *at == '\\') {
            if (!at[1]) {
                continue;
            }
            at++;
            if (*at != '\n' && !strchr("\"\\`$", *at)) {
                value[length++] = '\\';
            }
            if (*at != '\n') {
                value[length++] = *at;
            }
        } else if (quote) {
            value[length++] = *at;
        } else if (!begun && (*at == '\'' || *at == '"')) {
            quote = *at;
        } else if (*at == '\\') {
            begun = true;
            if (at[1] && *++at != '\n' && *at != '\r') {
                value[length++] = *at;
            }
            kept = length;
        } else if (begun || !is_white(*at)) {
            begun = true;
            value[length++] = *at;
        }
    }
    while (!quote && length > kept && is_white(value[length - 1])) {
        length--;
    }
    value[length] = '\0';
    return at;
}

static void read_as_systemd(struct arena *arena, const char *at, struct list *list)
{
    static char key[TEXT_BYTES];
    static char value[TEXT_BYTES];
    while (*at) {
        if (is_white(*at)) {
            at++;
        } else if (*at == '#' || *at == ';') {
            while (*at && *at != '\n' && *at != '\r') {
                at += *at == '\\' && at[1] ? 2 : 1; /* until systemd 254, a \ lets it go on */
            }
        } else {
            size_t length = 0;
            do { /* whatever comes first belongs to the name */
                key[length++] = *at++;
            } while (*at && *at != '=' && *at != '\n' && *at != '\r');
            cut_end(key, length);
            if (*at == '=') {
                at = read_value(at + 1, value);
                if (is_name(key)) {
                    put(arena, list, key, value);
                }
            }
        }
    }
}

/* ---- systemd itself ---- */

typedef int (*load_function)(FILE *file, const char *name, char ***out);

/* Of the version whose interface is known; a newer one may have another. */
static load_function find_systemd(void)
{
    glob_t found;
    void *library = NULL;
    if (glob("/usr/lib/*/systemd/libsystemd-shared-252.so", 0, NULL, &found) == 0) {
        library = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_LOCAL);
    }
    globfree(&found);
    return library ? (load_function)dlsym(library, "load_env_file") : NULL;
}

/* ---- comparing ---- */

static load_function systemd;

/* What systemd itself makes of a text is what its rules here make of it. */
static void check_rules(struct arena *arena, const char *text, const char *by_rules)
{
    FILE *file = systemd && *text ? fmemopen(arena_strdup(arena, text), strlen(text), "r") : NULL;
    char **items = NULL;
    struct list list = {0};
    if (!file || systemd(file, "text", &items) < 0) {
        return;
    }
    for (size_t i = 0; items && items[i]; i++) {
        char *equals = strchr(items[i], '=');
        *equals = '\0';
        if (is_name(items[i])) {
            put(arena, &list, items[i], equals + 1);
        }
        free(items[i]);
    }
    free(items);
    fclose(file);
    if (strcmp(joined(arena, &list), by_rules) != 0) {
        fail_msg("systemd reads [%s] as [%s], not as [%s]", text, joined(arena, &list), by_rules);
    }
}

/* Whether both read the same; a text that we refuse is read by nobody. `marked`: the parser says
 * that they do not. */
static bool is_read_alike(struct arena *arena, const char *text, bool *refused, bool *marked)
{
    struct envfile file;
    struct list ours = {0};
    struct list theirs = {0};
    char problem[200];
    *marked = false;
    *refused = envfile_parse(arena, text, strlen(text), &file, problem, sizeof problem) != OK;
    for (size_t i = 0; !*refused && i < file.count; i++) {
        put(arena, &ours, file.entries[i].key, file.entries[i].value);
        *marked = *marked || file.entries[i].otherwise;
    }
    read_as_systemd(arena, text, &theirs);
    check_rules(arena, text, joined(arena, &theirs));
    return strcmp(joined(arena, &ours), joined(arena, &theirs)) == 0;
}

static void knows_what_systemd_reads_otherwise(void **state)
{
    (void)state;
    enum outcome { ALIKE, OTHERWISE, REFUSED };
    static const struct {
        const char *text;
        enum outcome outcome;
    } CASES[] = {
        {"", ALIKE},
        {"# a comment\nA=1\n", ALIKE},
        {"  # a comment after blanks\n\tA=1", ALIKE},
        {"A=1 2", ALIKE},
        {"A = 1", ALIKE},
        {"  A=1  \n\nB=2\r\n", ALIKE},
        {"A=a#b", ALIKE},
        {"A=a;b", ALIKE},
        {"A=it's", ALIKE},
        {"A=", ALIKE},
        {"A=$HOME", ALIKE},
        {"A='$HOME # \\ \"'", ALIKE},
        {"A=\"# in quotes\"", ALIKE},
        {"A=\"\\\" \\\\ \\$\"", ALIKE},
        {"A=1\nA=2", ALIKE},
        {"A=\u00e4", ALIKE},
        {"A=1 # a comment", OTHERWISE},
        {"A=1\t#", OTHERWISE},
        {"A=# a comment", OTHERWISE},
        {"A='1' # a comment", OTHERWISE},
        {"A=\"1\"# a comment", OTHERWISE},
        {"export A=1", OTHERWISE},
        {"A=C:\\new", OTHERWISE},
        {"A=1\\\nB=2", OTHERWISE},
        {"A=\"one\\ntwo\"", OTHERWISE},
        {"A=\"one\\ttwo\"", OTHERWISE},
        {"\xEF\xBB\xBF"
         "A=1",
         OTHERWISE},
        {"# a comment \\\nA=1", OTHERWISE},
        {"; a comment", REFUSED},
        {"A", REFUSED},
        {"A='1'2", REFUSED},
        {"A='1\n2'", REFUSED},
        {"A=\"`\\`\"", REFUSED},
    };
    struct arena *arena = arena_new(MIB(64));
    for (size_t i = 0; i < COUNT(CASES); i++) {
        bool refused, marked;
        bool alike = is_read_alike(arena, CASES[i].text, &refused, &marked);
        bool right = CASES[i].outcome == REFUSED ? refused
                     : CASES[i].outcome == ALIKE ? alike && !refused && !marked
                                                 : !alike && !refused && marked;
        if (!right) {
            fail_msg("%s: alike %d, refused %d, marked %d", CASES[i].text, alike, refused, marked);
        }
    }
    arena_free(arena);
}

/* Nothing is read otherwise without a mark, whatever the file is. */
static void marks_every_difference(void **state)
{
    (void)state;
    static const char *const PIECES[] = {"A", "B",  "=",  " ",       "\t",   "\n", "\n",
                                         "'", "\"", "\\", "\\n",     "#",    ";",  "$",
                                         "`", "x",  "=1", "export ", "\r\n", "A=", "\nB="};
    uint32_t random = 1;
    size_t alike_count = 0;
    for (int round = 0; round < 30000; round++) {
        struct arena *arena = arena_new(MIB(1));
        struct buf text;
        buf_init(&text, KIB(1));
        buf_puts(&text, "");
        random = random * 1664525u + 1013904223u;
        for (size_t i = 0, most = random >> 28; i <= most; i++) {
            random = random * 1664525u + 1013904223u;
            buf_puts(&text, PIECES[(random >> 16) % COUNT(PIECES)]);
        }
        bool refused, marked;
        bool alike = is_read_alike(arena, text.data, &refused, &marked);
        if (!refused && !marked && !alike) {
            fail_msg("[%s] is read otherwise by systemd, and nothing says so", text.data);
        }
        alike_count += !refused && !marked && alike;
        buf_done(&text);
        arena_free(arena);
    }
    assert_true(alike_count > 1000);
}

/* The example file, with the # taken away from every setting in it. */
static void gives_an_example_that_both_read(void **state)
{
    (void)state;
    struct buf example;
    struct buf taken;
    struct arena *arena = arena_new(MIB(64));
    bool refused, marked;
    size_t settings = 0;
    buf_init(&example, MIB(1));
    buf_init(&taken, MIB(1));
    config_write_env_example(&example);
    for (char *line = example.data, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        const char *name = line + strspn(line, "# ");
        size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        bool setting = *line == '#' && length > 3 && name[length] == '=';
        settings += setting;
        buf_printf(&taken, "%s\n", setting ? name : line);
    }
    assert_true(settings > 50);
    assert_true(is_read_alike(arena, taken.data, &refused, &marked));
    assert_false(refused || marked);
    buf_done(&example);
    buf_done(&taken);
    arena_free(arena);
}

UNIT_TEST(envfile_systemd)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_systemd_reads_otherwise),
        cmocka_unit_test(marks_every_difference),
        cmocka_unit_test(gives_an_example_that_both_read),
    };
    systemd = find_systemd();
    printf("compared with %s\n", systemd ? "systemd's own parser" : "systemd's rules alone");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
