/* What the tests of the configuration share: a folder of their own with a configuration file in it,
 * and loading with a given environment. */
#ifndef FORAGE_TESTS_UNIT_CONFIG_FIXTURE_H
#define FORAGE_TESTS_UNIT_CONFIG_FIXTURE_H

#include "unit.h"

#include "config/config.h"
#include "core/arena.h"
#include "core/limits.h"
#include "core/redact.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_ENTRIES 8

static char folder[] = "/tmp/forage-test-XXXXXX";
static char file_path[64];

static int make_folder(void **state)
{
    *state = arena_new(MIB(64));
    snprintf(file_path, sizeof file_path, "%s/forage.env", mkdtemp(folder));
    return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
    config_unload();
    redact_reset();
    unlink(file_path);
    rmdir(folder);
    *state = arena_free(*state);
    return 0;
}

/* Each test begins without a file, a configuration or secrets. */
static int begin(void **state)
{
    (void)state;
    config_unload();
    redact_reset();
    unlink(file_path);
    return 0;
}

static void write_file(const char *text)
{
    FILE *stream = fopen(file_path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
    assert_int_equal(chmod(file_path, 0600), 0);
}

/* Loads with the given entries as the environment (NULL ends them), beside the file of this test.
 */
static int load(struct arena *arena, char *const *entries, struct buf *problem)
{
    char *environment[MOST_ENTRIES + 2] = {arena_printf(arena, "FORAGE_CONFIG=%s", file_path)};
    size_t count = access(file_path, F_OK) == 0;
    for (; *entries; entries++) {
        environment[count++] = *entries;
    }
    environment[count] = NULL;
    buf_init(problem, MIB(1));
    return config_load(environment, NULL, problem);
}

static void load_one(struct arena *arena, const char *entry)
{
    char *entries[] = {entry ? arena_strdup(arena, entry) : NULL, NULL};
    struct buf problem;
    int status = load(arena, entries, &problem);
    if (status != OK) {
        fail_msg("%s: %s", entry ? entry : "nothing", problem.data);
    }
    assert_int_equal(problem.length, 0);
    buf_done(&problem);
}

#endif
