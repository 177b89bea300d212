/* A store of memories for tests: in a folder of its own, which goes with it, used by one process or
 * by several that come one after the other. */
#ifndef FORAGE_TESTS_UNIT_MEMORY_FIXTURE_H
#define FORAGE_TESTS_UNIT_MEMORY_FIXTURE_H

#include "call/parts.h"
#include "config/config.h"
#include "core/buf.h"
#include "core/files.h"
#include "core/limits.h"
#include "guard/callers.h"
#include "memory/memory.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];
static struct parts parts;
static const struct memory_space SPACE = {"local", "default"};

static void begin_process(void)
{
    parts.places = places_new();
    parts.memories = memories_new(parts.places, NULL);
    assert_non_null(parts.memories);
}

/* Everything that is to be written is written first. */
static void end_process(void)
{
    parts.memories = memories_free(parts.memories);
    parts.places = places_free(parts.places);
}

static int make_folder(void **state)
{
    (void)state;
    char setting[128];
    char *environment[] = {setting, (char[]){"FORAGE_SHARED_NAMESPACES=team"}, NULL};
    struct buf problem;
    snprintf(folder, sizeof folder, "/tmp/forage-memory-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(setting, sizeof setting, "FORAGE_DATA_DIR=%s", folder);
    buf_init(&problem, KIB(4));
    assert_int_equal(config_load(environment, NULL, &problem), OK);
    buf_done(&problem);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    config_unload();
    return remove_folder(folder, 1) ? 0 : -1;
}

static struct call *new_call(void)
{
    return call_new(&(struct call_options){.caller = caller_local(), .parts = &parts});
}

#endif
