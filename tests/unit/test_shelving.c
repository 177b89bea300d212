/* An index that goes to its shelf and comes back: what is found is what was put, whoever saved it
 * and whatever changed while it was written. */
#include "core/files.h"
#include "core/limits.h"
#include "index/shelving.h"

#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_IDS 6000

static const unsigned char IDENTITY[SHA256_SIZE] = "a store";

/* A process: its index, and the changes that it has read. */
struct process {
    struct shelf *shelf;
    struct index *index;
    struct shelving_source source;
};

/* What the store would hold: the word of each id, 0: none; and which change wrote or removed it. */
struct model {
    char folder[64];
    unsigned words[MOST_IDS];
    int64_t changes[MOST_IDS];
    int64_t change;
    unsigned next_word;
};

static int make_model(void **state)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    snprintf(model->folder, sizeof model->folder, "/tmp/test_shelving.XXXXXX");
    *state = model;
    return mkdtemp(model->folder) ? 0 : -1;
}

static int free_model(void **state)
{
    struct model *model = *state;
    bool removed = remove_folder(model->folder, 1);
    free(model);
    return removed ? 0 : -1;
}

static void put(struct model *model, size_t id)
{
    model->words[id] = ++model->next_word;
    model->changes[id] = ++model->change;
}

static void drop(struct model *model, size_t id)
{
    model->words[id] = 0;
    model->changes[id] = ++model->change;
}

/* ---- a process ---- */

static void load(struct process *process)
{
    index_free(process->index);
    process->index = index_new();
    assert_non_null(process->index);
    assert_int_equal(shelving_load(process->index, process->shelf, &process->source), OK);
}

static struct process start(const struct model *model)
{
    char folder[96];
    snprintf(folder, sizeof folder, "%s/index", model->folder);
    struct process process = {.shelf = shelf_new(folder, IDENTITY)};
    assert_non_null(process.shelf);
    load(&process);
    return process;
}

static void end(struct process *process)
{
    index_free(process->index);
    shelf_free(process->shelf);
}

static void catch_up(struct process *process, const struct model *model)
{
    for (size_t id = 1; id < MOST_IDS; id++) {
        if (model->changes[id] <= process->source.seen) {
            continue;
        }
        char text[64];
        snprintf(text, sizeof text, "common word%u", model->words[id]);
        struct index_entry entry = {.id = (int64_t)id, .text = text, .summary = ""};
        if (model->words[id]) {
            assert_int_equal(index_put(process->index, &entry), OK);
        } else {
            index_remove(process->index, (int64_t)id);
        }
    }
    process->source.seen = model->change;
    assert_int_equal(index_settle(process->index), OK);
}

static size_t found(const struct process *process, const char *query, int64_t *id)
{
    struct arena *arena = arena_new(MIB(8));
    struct index_found hits = {0};
    struct index_filter filter = {.now_ms = 1};
    assert_int_equal(index_search(process->index, arena, query, &filter, MOST_IDS, 0, &hits), OK);
    assert_true(shelving_sound(process->index));
    *id = hits.count ? hits.hits[0].id : 0;
    size_t count = hits.count;
    arena_free(arena);
    return count;
}

/* All that lives is found, and nothing else. */
static void require_as_model(const struct process *process, const struct model *model)
{
    int64_t id;
    size_t living = 0;
    for (size_t i = 1; i < MOST_IDS; i++) {
        living += model->words[i] != 0;
    }
    assert_int_equal(index_count(process->index), living);
    assert_int_equal(found(process, "common", &id), living);
    for (size_t i = 1; i < MOST_IDS; i += 7) {
        char query[32];
        snprintf(query, sizeof query, "word%u", model->words[i]);
        if (model->words[i]) {
            assert_true(found(process, query, &id) >= 1);
            assert_int_equal(id, i);
        }
    }
}

/* Saves; what `meanwhile` says changes while it is written. Whether somebody else was first. */
static bool save(struct process *process, struct model *model, void (*meanwhile)(struct model *))
{
    bool thrown_away;
    struct shelving *shelving = NULL;
    assert_int_equal(shelf_claim(process->shelf, &thrown_away), OK);
    assert_false(thrown_away);
    int status = shelving_begin(process->index, process->shelf, &process->source, &shelving);
    if (status == OK) {
        if (meanwhile) {
            meanwhile(model);
            catch_up(process, model);
        }
        assert_int_equal(shelving_write(shelving), OK);
        assert_int_equal(shelving_end(shelving, process->index, true), OK);
    }
    shelf_unclaim(process->shelf);
    if (status == ERR_CLOSED) {
        load(process);
        return true;
    }
    assert_true(status == OK || status == ERR_NOTFOUND);
    return false;
}

/* ---- the tests ---- */

static void comes_back_as_it_was(void **state)
{
    struct model *model = *state;
    struct process first = start(model);
    for (size_t id = 1; id < 300; id++) {
        put(model, id);
    }
    catch_up(&first, model);
    assert_int_equal(shelving_need(first.index).fresh, 299);
    assert_false(save(&first, model, NULL));
    assert_int_equal(shelving_need(first.index).fresh, 0);
    require_as_model(&first, model);
    struct process second = start(model);
    assert_int_equal(second.source.seen, model->change);
    require_as_model(&second, model);
    end(&first);
    end(&second);
}

static void change_some(struct model *model)
{
    put(model, 5);
    drop(model, 12);
    put(model, 350);
}

/* What changes while it is written is neither lost nor found twice. */
static void is_changed_while_it_is_written(void **state)
{
    struct model *model = *state;
    struct process process = start(model);
    for (size_t id = 1; id < 300; id++) {
        put(model, id);
    }
    catch_up(&process, model);
    assert_false(save(&process, model, change_some));
    require_as_model(&process, model);
    assert_int_equal(shelving_need(process.index).dead, 2);
    struct process other = start(model);
    assert_true(other.source.seen < model->change);
    catch_up(&other, model);
    require_as_model(&other, model);
    assert_false(save(&process, model, NULL));
    assert_int_equal(shelving_need(process.index).dead, 0);
    assert_true(save(&other, model, NULL));
    catch_up(&other, model);
    require_as_model(&other, model);
    end(&process);
    end(&other);
}

/* Whether a file of the shelf holds the bytes. */
static bool is_on_disk(const struct model *model, const char *bytes)
{
    char path[400];
    bool there = false;
    snprintf(path, sizeof path, "%s/index", model->folder);
    DIR *listing = opendir(path);
    assert_non_null(listing);
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        struct buf all;
        buf_init(&all, MIB(64));
        snprintf(path, sizeof path, "%s/index/%s", model->folder, entry->d_name);
        if (entry->d_name[0] != '.') {
            assert_int_equal(read_whole(path, &all), OK);
            there = there || (all.length && memmem(all.data, all.length, bytes, strlen(bytes)));
        }
        buf_done(&all);
    }
    closedir(listing);
    return there;
}

static void forgets_deleted_words(void **state)
{
    struct model *model = *state;
    struct process process = start(model);
    for (size_t id = 1; id < 100; id++) {
        put(model, id);
    }
    catch_up(&process, model);
    struct index_entry secret = {.id = 5000, .text = "zanzibarquux", .summary = ""};
    assert_int_equal(index_put(process.index, &secret), OK);
    assert_int_equal(index_settle(process.index), OK);
    assert_false(save(&process, model, NULL));
    assert_true(is_on_disk(model, "zanzibarquux"));
    index_remove(process.index, 5000);
    assert_int_equal(shelving_need(process.index).dead, 1);
    assert_false(save(&process, model, NULL));
    assert_false(is_on_disk(model, "zanzibarquux"));
    require_as_model(&process, model);
    end(&process);
}

/* Three processes at random: each change is found by each of them. */
static void serves_several_processes(void **state)
{
    struct model *model = *state;
    struct process processes[3];
    unsigned random = 7;
    for (size_t i = 0; i < COUNT(processes); i++) {
        processes[i] = start(model);
    }
    for (int step = 0; step < 400; step++) {
        random = random * 1103515245u + 12345u;
        size_t id = 1 + (random >> 16) % (MOST_IDS - 1);
        struct process *process = &processes[(random >> 8) % COUNT(processes)];
        if (random >> 30 == 0) {
            drop(model, id);
        } else {
            put(model, id);
        }
        if (step % 3 == 0) {
            catch_up(process, model);
        }
        if (step % 10 == 0) {
            (void)save(process, model, step % 20 ? change_some : NULL);
            catch_up(process, model);
            require_as_model(process, model);
        }
        if (step % 50 == 49) {
            end(process);
            *process = start(model);
        }
    }
    for (size_t i = 0; i < COUNT(processes); i++) {
        catch_up(&processes[i], model);
        require_as_model(&processes[i], model);
        end(&processes[i]);
    }
}

/* A save that fails leaves the index as it was. */
static void goes_on_without_a_disk(void **state)
{
    struct model *model = *state;
    struct process process = start(model);
    struct shelving *shelving = NULL;
    bool thrown_away;
    for (size_t id = 1; id < 50; id++) {
        put(model, id);
    }
    catch_up(&process, model);
    assert_int_equal(shelf_claim(process.shelf, &thrown_away), OK);
    assert_int_equal(shelving_begin(process.index, process.shelf, &process.source, &shelving), OK);
    char path[128];
    snprintf(path, sizeof path, "%s/index/manifest.new", model->folder);
    assert_int_equal(close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
    assert_int_equal(shelving_write(shelving), ERR_IO);
    assert_int_equal(shelving_end(shelving, process.index, false), OK);
    shelf_unclaim(process.shelf);
    require_as_model(&process, model);
    assert_false(save(&process, model, NULL));
    require_as_model(&process, model);
    end(&process);
}

/* Without a shelf segments are merged in memory, while others come and go. */
static void merges_without_a_shelf(void **state)
{
    struct model *model = *state;
    struct process process = start(model);
    struct shelving *shelving = NULL;
    for (size_t id = 1; id < 5600; id++) {
        put(model, id);
        if (id % 700 == 0) {
            assert_false(shelving_need(process.index).is_crowded);
            catch_up(&process, model);
        }
    }
    catch_up(&process, model);
    assert_true(shelving_need(process.index).is_crowded);
    assert_int_equal(shelving_begin(process.index, NULL, &process.source, &shelving), OK);
    change_some(model);
    catch_up(&process, model);
    require_as_model(&process, model);
    assert_int_equal(shelving_write(shelving), OK);
    assert_int_equal(shelving_end(shelving, process.index, true), OK);
    require_as_model(&process, model);
    assert_false(shelving_need(process.index).is_crowded);
    assert_int_equal(shelving_begin(process.index, NULL, &process.source, &shelving), ERR_NOTFOUND);
    for (size_t id = 1; id < 3000; id++) { /* more than half of it */
        drop(model, id);
    }
    catch_up(&process, model);
    assert_true(shelving_need(process.index).is_crowded);
    assert_int_equal(shelving_begin(process.index, NULL, &process.source, &shelving), OK);
    assert_int_equal(shelving_write(shelving), OK);
    assert_int_equal(shelving_end(shelving, process.index, true), OK);
    require_as_model(&process, model);
    end(&process);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, make_model, free_model)

UNIT_TEST(shelving)
{
    const struct CMUnitTest tests[] = {
        EACH(comes_back_as_it_was),   EACH(is_changed_while_it_is_written),
        EACH(forgets_deleted_words),  EACH(serves_several_processes),
        EACH(goes_on_without_a_disk), EACH(merges_without_a_shelf),
    };
    return cmocka_run_group_tests_name("shelving", tests, NULL, NULL);
}
