/* The files of an index: what a writer leaves when it is interrupted at any step, what readers see
 * meanwhile, and what neither of them falls for. In these tests a segment is a list of the changes
 * that are in it, so that all segments of a sound shelf together hold each change once. */
#include "core/buf.h"
#include "core/files.h"
#include "core/limits.h"
#include "index/shelf.h"

#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const unsigned char IDENTITY[SHA256_SIZE] = "store 1, space 1, format 1";

/* ---- interrupting ---- */

static long steps;               /* since they were counted */
static long interrupted = -1;    /* the step that fails; negative: none */
static bool dies;                /* and ends the process instead */
static pthread_t interrupts_who; /* only this thread counts */

static bool fails(void)
{
    if (!pthread_equal(interrupts_who, pthread_self()) || steps++ != interrupted) {
        return false;
    }
    if (dies) {
        _exit(9);
    }
    errno = ENOSPC;
    return true;
}

ssize_t __real_write(int fd, const void *data, size_t length);
ssize_t __wrap_write(int fd, const void *data, size_t length);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);

/* A full disk takes some of it first. */
ssize_t __wrap_write(int fd, const void *data, size_t length)
{
    if (steps == interrupted && length > 1 && pthread_equal(interrupts_who, pthread_self())) {
        (void)!__real_write(fd, data, length / 2);
    }
    return fails() ? -1 : __real_write(fd, data, length);
}

int __wrap_fsync(int fd)
{
    return fails() ? -1 : __real_fsync(fd);
}

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return fails() ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

int __wrap_unlinkat(int folder, const char *name, int flags)
{
    return fails() ? -1 : __real_unlinkat(folder, name, flags);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    return fails() ? -1 : __real_mkdir(path, mode);
}

static void interrupt_at(long step, bool by_death)
{
    interrupts_who = pthread_self();
    steps = 0;
    dies = by_death;
    interrupted = step;
}

static void go_on(void)
{
    interrupted = -1;
}

/* ---- a folder for each test ---- */

struct place {
    char around[64];
    char folder[96]; /* below it, made by the first writer */
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    snprintf(place->around, sizeof place->around, "/tmp/test_shelf.XXXXXX");
    if (!mkdtemp(place->around)) {
        return -1;
    }
    snprintf(place->folder, sizeof place->folder, "%s/index/store/7", place->around);
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    bool removed = remove_folder(place->around, 1);
    free(place);
    return removed ? 0 : -1;
}

static char *path_of(const struct place *place, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", place->folder, name);
    return path;
}

static char *segment_path(const struct place *place, uint64_t number)
{
    char name[32];
    snprintf(name, sizeof name, "%016llx.seg", (unsigned long long)number);
    return path_of(place, name);
}

static struct shelf *open_shelf(const struct place *place)
{
    struct shelf *shelf = shelf_new(place->folder, IDENTITY);
    assert_non_null(shelf);
    return shelf;
}

static size_t files_in(const struct place *place)
{
    size_t count = 0;
    DIR *listing = opendir(place->folder);
    assert_non_null(listing);
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        count += entry->d_name[0] != '.';
    }
    closedir(listing);
    return count;
}

/* ---- writing ---- */

static void claim(struct shelf *shelf)
{
    bool thrown_away;
    assert_int_equal(shelf_claim(shelf, &thrown_away), OK);
    assert_false(thrown_away);
}

/* A claimed shelf gets a segment of these bytes in the place of `gone`. */
static int put(struct shelf *shelf, int64_t seen, const void *data, size_t length,
               const uint64_t *gone, size_t gone_count)
{
    struct shelf_draft *draft = NULL;
    int status = shelf_draft_begin(shelf, &draft);
    if (status == OK) {
        status = shelf_draft_write(draft, data, length);
    }
    if (status == OK) {
        status = shelf_change(shelf, &(struct shelf_change){.seen = seen,
                                                            .drafts = &draft,
                                                            .draft_count = 1,
                                                            .gone = gone,
                                                            .gone_count = gone_count});
    }
    shelf_draft_free(draft);
    return status;
}

/* The next change, in a segment of its own. */
static int add(struct shelf *shelf)
{
    struct shelf_view *view = shelf_hold(shelf);
    int64_t change = view->seen + 1;
    shelf_release(view);
    return put(shelf, change, &change, sizeof change, NULL, 0);
}

/* All segments from `first` on become one. */
static int merge(struct shelf *shelf, size_t first)
{
    uint64_t gone[LIMIT_INDEX_SEGMENTS];
    struct buf all;
    struct shelf_view *view = shelf_hold(shelf);
    buf_init(&all, MIB(1));
    for (size_t i = first; i < view->count; i++) {
        gone[i - first] = view->segments[i].number;
        buf_append(&all, view->segments[i].data, view->segments[i].length);
    }
    int status = put(shelf, view->seen, all.data, all.length, gone, view->count - first);
    shelf_release(view);
    buf_done(&all);
    return status;
}

/* ---- reading ---- */

/* Whether the view is whole; how many changes it reaches. */
static bool is_whole(const struct shelf_view *view)
{
    int64_t sum = 0;
    int64_t count = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct shelf_segment *segment = &view->segments[i];
        if (!shelf_sound(segment, 0, segment->length)) {
            return false;
        }
        for (size_t at = 0; at < segment->length; at += sizeof(int64_t)) {
            int64_t change;
            memcpy(&change, segment->data + at, sizeof change);
            sum += change;
            count++;
        }
    }
    return count == view->seen && sum == view->seen * (view->seen + 1) / 2;
}

/* What somebody sees who opens it now; negative when it is not whole. */
static int64_t seen_by_another(const struct place *place)
{
    struct shelf *shelf = open_shelf(place);
    int status = shelf_refresh(shelf);
    struct shelf_view *view = shelf_hold(shelf);
    int64_t seen = is_whole(view) && (status == OK || status == ERR_NOTFOUND) ? view->seen : -1;
    shelf_release(view);
    shelf_free(shelf);
    return seen;
}

static int64_t seen_by(struct shelf *shelf)
{
    int status = shelf_refresh(shelf);
    struct shelf_view *view = shelf_hold(shelf);
    int64_t seen = is_whole(view) && (status == OK || status == ERR_NOTFOUND) ? view->seen : -1;
    shelf_release(view);
    return seen;
}

/* ---- the tests ---- */

static void keeps_what_it_was_given(void **state)
{
    const struct place *place = *state;
    struct shelf *writer = open_shelf(place);
    struct shelf *reader = open_shelf(place);
    assert_int_equal(shelf_refresh(reader), ERR_NOTFOUND);
    claim(writer);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(add(writer), OK);
    }
    shelf_unclaim(writer);
    assert_int_equal(seen_by(reader), 3);
    assert_int_equal(seen_by_another(place), 3);
    struct stat about;
    assert_int_equal(stat(place->folder, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
    assert_int_equal(stat(path_of(place, "manifest"), &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    shelf_free(writer);
    shelf_free(reader);
}

static void checks_each_block(void **state)
{
    const struct place *place = *state;
    static const size_t LENGTHS[] = {1, 65535, 65536, 65537, 131072, 200001};
    for (size_t i = 0; i < COUNT(LENGTHS); i++) {
        struct shelf *shelf = open_shelf(place);
        size_t length = LENGTHS[i];
        unsigned char *bytes = malloc(length);
        assert_non_null(bytes);
        for (size_t at = 0; at < length; at++) {
            bytes[at] = (unsigned char)(at * 7 + i);
        }
        bool thrown_away;
        assert_int_equal(shelf_claim(shelf, &thrown_away), OK);
        assert_int_equal(shelf_reset(shelf), OK);
        assert_int_equal(put(shelf, 1, bytes, length, NULL, 0), OK);
        shelf_unclaim(shelf);
        struct shelf_view *view = shelf_hold(shelf);
        const struct shelf_segment *segment = &view->segments[0];
        assert_memory_equal(segment->data, bytes, length);
        assert_true(shelf_sound(segment, length - 1, 1));
        assert_true(shelf_sound(segment, 0, length));
        assert_false(shelf_sound(segment, 0, length + 1));
        assert_false(shelf_sound(segment, length + 1, 0));
        /* A bit of the last byte: whoever maps it anew does not believe that block, and no other.
         */
        unsigned char wrong = bytes[length - 1] ^ 16;
        int fd = open(segment_path(place, segment->number), O_WRONLY | O_CLOEXEC);
        assert_int_equal(pwrite(fd, &wrong, 1, (off_t)length - 1), 1);
        close(fd);
        shelf_release(view);
        shelf_free(shelf);
        shelf = open_shelf(place);
        assert_int_equal(shelf_refresh(shelf), OK);
        view = shelf_hold(shelf);
        assert_false(shelf_sound(&view->segments[0], length - 1, 1));
        assert_int_equal(shelf_sound(&view->segments[0], 0, 1), length > 65536);
        shelf_release(view);
        shelf_free(shelf);
        free(bytes);
    }
}

static void forgets_what_is_replaced(void **state)
{
    const struct place *place = *state;
    static const char SECRET[] = "the word that was deleted";
    struct shelf *shelf = open_shelf(place);
    struct shelf *reader = open_shelf(place);
    claim(shelf);
    assert_int_equal(put(shelf, 1, "first", 5, NULL, 0), OK);
    assert_int_equal(put(shelf, 2, SECRET, sizeof SECRET, NULL, 0), OK);
    assert_int_equal(put(shelf, 3, "third", 5, NULL, 0), OK);
    assert_int_equal(shelf_refresh(reader), OK);
    struct shelf_view *before = shelf_hold(reader);
    assert_int_equal(put(shelf, 4, "without it", 10, &before->segments[1].number, 1), OK);
    shelf_unclaim(shelf);
    assert_int_equal(access(segment_path(place, before->segments[1].number), F_OK), -1);
    assert_int_equal(files_in(place), 5);
    /* Whoever still reads the old one can. */
    assert_int_equal(shelf_refresh(reader), OK);
    assert_true(shelf_sound(&before->segments[1], 0, sizeof SECRET));
    assert_memory_equal(before->segments[1].data, SECRET, sizeof SECRET);
    struct shelf_view *after = shelf_hold(reader);
    assert_int_equal(after->count, 3);
    assert_memory_equal(after->segments[0].data, "first", 5);
    assert_memory_equal(after->segments[1].data, "third", 5);
    assert_memory_equal(after->segments[2].data, "without it", 10);
    assert_ptr_equal(after->segments[0].data, before->segments[0].data);
    shelf_release(before);
    shelf_release(after);
    shelf_free(shelf);
    shelf_free(reader);
}

static void takes_nothing_out_that_is_not_there(void **state)
{
    const struct place *place = *state;
    struct shelf *shelf = open_shelf(place);
    claim(shelf);
    assert_int_equal(add(shelf), OK);
    assert_int_equal(add(shelf), OK);
    struct shelf_view *view = shelf_hold(shelf);
    const uint64_t gone[] = {view->segments[0].number, 12345};
    struct shelf_change change = {.seen = 9, .gone = gone, .gone_count = 2};
    assert_int_equal(shelf_change(shelf, &change), ERR_INVALID);
    shelf_release(view);
    shelf_unclaim(shelf);
    shelf_free(shelf);
    shelf = open_shelf(place);
    assert_int_equal(shelf_refresh(shelf), OK);
    view = shelf_hold(shelf);
    assert_int_equal(view->count, 2);
    assert_int_equal(view->segments[0].number, gone[0]);
    shelf_release(view);
    shelf_free(shelf);
}

static void has_one_writer(void **state)
{
    const struct place *place = *state;
    struct shelf *first = open_shelf(place);
    struct shelf *second = open_shelf(place);
    bool thrown_away;
    claim(first);
    assert_int_equal(shelf_claim(first, &thrown_away), ERR_BUSY);
    assert_int_equal(shelf_claim(second, &thrown_away), ERR_BUSY);
    assert_int_equal(add(first), OK);
    shelf_unclaim(first);
    claim(second);
    assert_int_equal(add(second), OK);
    shelf_unclaim(second);
    assert_int_equal(seen_by(first), 2);
    shelf_free(first);
    shelf_free(second);
}

static void ends_at_its_ceilings(void **state)
{
    const struct place *place = *state;
    struct shelf *shelf = open_shelf(place);
    claim(shelf);
    for (unsigned i = 0; i < LIMIT_INDEX_SEGMENTS; i++) {
        assert_int_equal(add(shelf), OK);
    }
    assert_int_equal(add(shelf), ERR_LIMIT);
    assert_int_equal(seen_by(shelf), LIMIT_INDEX_SEGMENTS);
    assert_int_equal(merge(shelf, 0), OK);
    assert_int_equal(add(shelf), OK);
    assert_int_equal(put(shelf, 99, "", 0, NULL, 0), ERR_INVALID);
    struct shelf_draft *draft = NULL;
    assert_int_equal(shelf_draft_begin(shelf, &draft), OK);
    assert_int_equal(shelf_draft_write(draft, "x", LIMIT_INDEX_SEGMENT_BYTES + 1), ERR_LIMIT);
    shelf_draft_free(draft);
    shelf_unclaim(shelf);
    assert_int_equal(files_in(place), 4);
    assert_int_equal(seen_by(shelf), LIMIT_INDEX_SEGMENTS + 1);
    shelf_free(shelf);
}

/* ---- interrupted ---- */

/* From two changes: a third one, and the last two become one segment. */
static int work(struct shelf *shelf)
{
    bool thrown_away;
    int status = shelf_claim(shelf, &thrown_away);
    if (status == OK) {
        status = add(shelf);
        status = status == OK ? merge(shelf, 1) : status;
        shelf_unclaim(shelf);
    }
    return status;
}

static void begin_with_two(const struct place *place)
{
    remove_folder(place->folder, 1);
    struct shelf *shelf = open_shelf(place);
    claim(shelf);
    assert_int_equal(add(shelf), OK);
    assert_int_equal(add(shelf), OK);
    shelf_unclaim(shelf);
    shelf_free(shelf);
}

/* After whatever happened: two changes or three, and the next writer leaves nothing else. */
static void require_good_end(const struct place *place)
{
    int64_t seen = seen_by_another(place);
    assert_in_range(seen, 2, 3);
    struct shelf *shelf = open_shelf(place);
    claim(shelf);
    assert_int_equal(add(shelf), OK);
    shelf_unclaim(shelf);
    struct shelf_view *view = shelf_hold(shelf);
    assert_int_equal(files_in(place), view->count + 2);
    shelf_release(view);
    assert_int_equal(seen_by_another(place), seen + 1);
    shelf_free(shelf);
}

static void survives_each_failing_step(void **state)
{
    const struct place *place = *state;
    long failures = 0;
    for (long step = 0;; step++) {
        begin_with_two(place);
        struct shelf *shelf = open_shelf(place);
        interrupt_at(step, false);
        int status = work(shelf);
        bool reached = steps > step;
        go_on();
        assert_in_range(seen_by(shelf), 2, 3);
        shelf_free(shelf);
        require_good_end(place);
        failures += status != OK;
        if (!reached) {
            assert_int_equal(status, OK);
            break;
        }
    }
    assert_true(failures >= 12);
}

static void survives_its_end_at_each_step(void **state)
{
    const struct place *place = *state;
    int ended = 9;
    for (long step = 0; ended == 9; step++) {
        begin_with_two(place);
        pid_t child = fork();
        if (child == 0) {
            struct shelf *shelf = open_shelf(place);
            interrupt_at(step, true);
            int status = work(shelf);
            _exit(status == OK ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        ended = WEXITSTATUS(status);
        require_good_end(place);
    }
    assert_int_equal(ended, 0);
}

/* ---- many at once ---- */

#define WRITERS 4
#define ROUNDS  40

/* Writes and reads in turns; 0 when every view was whole and none went back. */
static int take_part(const struct place *place, int who)
{
    struct shelf *shelf = open_shelf(place);
    int64_t last = 0;
    for (int i = 0; i < ROUNDS; i++) {
        bool thrown_away = false;
        int status = shelf_claim(shelf, &thrown_away);
        if (status == OK) {
            status = (i + who) % 5 == 0 ? merge(shelf, 0) : add(shelf);
            shelf_unclaim(shelf);
        }
        if ((status != OK && status != ERR_BUSY && status != ERR_INVALID) || thrown_away) {
            return 2; /* ERR_INVALID: nothing to merge yet */
        }
        int64_t seen = seen_by(shelf);
        if (seen < last) {
            return 3;
        }
        last = seen;
    }
    shelf_free(shelf);
    return 0;
}

static void serves_many_processes(void **state)
{
    const struct place *place = *state;
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            _exit(take_part(place, i));
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_true(seen_by_another(place) > 0);
}

struct reading {
    struct shelf *shelf;
    pthread_t thread;
    atomic_bool over; /* nothing changes any more */
    bool refreshes;   /* which takes the lock, too */
    bool whole;
};

static bool holds_whole(struct shelf *shelf)
{
    struct shelf_view *view = shelf_hold(shelf);
    bool whole = is_whole(view);
    shelf_release(view);
    return whole;
}

static void *read_often(void *context)
{
    struct reading *reading = context;
    reading->whole = true;
    while (!atomic_load(&reading->over)) {
        bool whole =
            reading->refreshes ? seen_by(reading->shelf) >= 0 : holds_whole(reading->shelf);
        reading->whole = whole && reading->whole;
    }
    return NULL;
}

static void serves_many_threads(void **state)
{
    const struct place *place = *state;
    struct shelf *shelf = open_shelf(place);
    struct reading readings[3];
    for (size_t i = 0; i < COUNT(readings); i++) {
        readings[i].shelf = shelf;
        readings[i].refreshes = i > 0;
        atomic_init(&readings[i].over, false);
        assert_int_equal(pthread_create(&readings[i].thread, NULL, read_often, &readings[i]), 0);
    }
    for (int i = 0; i < 60; i++) {
        claim(shelf);
        assert_int_equal(i % 4 == 3 ? merge(shelf, 0) : add(shelf), OK);
        shelf_unclaim(shelf);
    }
    for (size_t i = 0; i < COUNT(readings); i++) {
        atomic_store(&readings[i].over, true);
        pthread_join(readings[i].thread, NULL);
        assert_true(readings[i].whole);
    }
    assert_int_equal(seen_by(shelf), 45);
    shelf_free(shelf);
}

/* ---- damage ---- */

static void require_thrown_away(const struct place *place)
{
    struct shelf *shelf = open_shelf(place);
    bool thrown_away;
    assert_int_equal(shelf_refresh(shelf), ERR_INVALID);
    assert_int_equal(shelf_claim(shelf, &thrown_away), OK);
    assert_true(thrown_away);
    assert_int_equal(add(shelf), OK);
    shelf_unclaim(shelf);
    assert_int_equal(files_in(place), 3);
    assert_int_equal(seen_by_another(place), 1);
    shelf_free(shelf);
}

/* Any bit of it. */
static void throws_away_a_damaged_manifest(void **state)
{
    const struct place *place = *state;
    begin_with_two(place);
    struct buf bytes;
    buf_init(&bytes, MIB(1));
    assert_int_equal(read_whole(path_of(place, "manifest"), &bytes), OK);
    for (size_t bit = 0; bit < bytes.length * 8; bit += 5) {
        struct shelf *shelf = open_shelf(place);
        int fd = open(path_of(place, "manifest"), O_WRONLY | O_TRUNC | O_CLOEXEC);
        bytes.data[bit / 8] = (char)(bytes.data[bit / 8] ^ 1 << bit % 8);
        assert_int_equal(write_all(fd, bytes.data, bytes.length), OK);
        bytes.data[bit / 8] = (char)(bytes.data[bit / 8] ^ 1 << bit % 8);
        close(fd);
        assert_int_equal(shelf_refresh(shelf), ERR_INVALID);
        shelf_free(shelf);
    }
    buf_done(&bytes);
    require_thrown_away(place);
    assert_int_equal(truncate(path_of(place, "manifest"), 0), 0);
    require_thrown_away(place);
}

static void throws_away_what_is_of_something_else(void **state)
{
    const struct place *place = *state;
    begin_with_two(place);
    struct shelf *other =
        shelf_new(place->folder, (const unsigned char[SHA256_SIZE]){"store 1, space 1, format 2"});
    bool thrown_away;
    assert_int_equal(shelf_refresh(other), ERR_INVALID);
    assert_int_equal(shelf_claim(other, &thrown_away), OK);
    assert_true(thrown_away);
    assert_int_equal(add(other), OK);
    shelf_unclaim(other);
    shelf_free(other);
    require_thrown_away(place);
}

static void throws_away_cut_and_missing_segments(void **state)
{
    const struct place *place = *state;
    for (int i = 0; i < 3; i++) {
        begin_with_two(place);
        struct shelf *shelf = open_shelf(place);
        assert_int_equal(shelf_refresh(shelf), OK);
        struct shelf_view *view = shelf_hold(shelf);
        char *path = segment_path(place, view->segments[1].number);
        assert_int_equal(i == 0   ? unlink(path)
                         : i == 1 ? truncate(path, 3)
                                  : truncate(path, 5000),
                         0);
        shelf_release(view);
        shelf_free(shelf);
        require_thrown_away(place);
    }
}

/* The last page of a file that was cut within it is there, and reads as zeros without a fault. */
static void notices_a_cut_within_a_page(void **state)
{
    const struct place *place = *state;
    struct shelf *shelf = open_shelf(place);
    unsigned char bytes[100];
    memset(bytes, 'x', sizeof bytes);
    claim(shelf);
    assert_int_equal(put(shelf, 1, bytes, sizeof bytes, NULL, 0), OK);
    shelf_unclaim(shelf);
    struct shelf_view *view = shelf_hold(shelf);
    const struct shelf_segment *segment = &view->segments[0];
    assert_true(shelf_sound(segment, 0, sizeof bytes));
    assert_int_equal(truncate(segment_path(place, segment->number), 50), 0);
    assert_false(shelf_sound(segment, 0, 0));
    shelf_release(view);
    shelf_free(shelf);
}

/* A file that is cut while it is mapped: zeros, and a word about it. */
static void outlives_files_that_are_cut(void **state)
{
    const struct place *place = *state;
    struct shelf *shelf = open_shelf(place);
    size_t length = 300000;
    unsigned char *bytes = calloc(1, length);
    assert_non_null(bytes);
    memset(bytes, 'x', length);
    claim(shelf);
    assert_int_equal(put(shelf, 1, bytes, length, NULL, 0), OK);
    shelf_unclaim(shelf);
    struct shelf_view *view = shelf_hold(shelf);
    const struct shelf_segment *segment = &view->segments[0];
    assert_true(shelf_sound(segment, 0, length));
    assert_int_equal(truncate(segment_path(place, segment->number), 100), 0);
    assert_false(shelf_sound(segment, 0, length)); /* before anybody read it */
    const volatile unsigned char *data = segment->data;
    assert_int_equal(data[length - 1], 0);
    assert_int_equal(data[0], 0);
    assert_false(shelf_sound(segment, 0, 0));
    assert_int_equal(truncate(path_of(place, "manifest"), 1), 0);
    shelf_release(view);
    shelf_free(shelf);
    free(bytes);
    require_thrown_away(place);
}

/* ---- what others put there ---- */

static void follows_no_links(void **state)
{
    const struct place *place = *state;
    char victim[128];
    bool thrown_away;
    begin_with_two(place);
    snprintf(victim, sizeof victim, "%s/victim", place->around);
    int fd = open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write_all(fd, "untouched", 9), OK);
    close(fd);
    /* Where the next writer writes: the link goes, what it leads to stays. */
    assert_int_equal(symlink(victim, path_of(place, "manifest.new")), 0);
    struct shelf *shelf = open_shelf(place);
    claim(shelf);
    assert_int_equal(add(shelf), OK);
    shelf_unclaim(shelf);
    /* In the place of the lock, of the manifest, of the folder. */
    assert_int_equal(unlink(path_of(place, "lock")), 0);
    assert_int_equal(symlink(victim, path_of(place, "lock")), 0);
    assert_int_equal(shelf_claim(shelf, &thrown_away), ERR_IO);
    assert_int_equal(unlink(path_of(place, "lock")), 0);
    assert_int_equal(unlink(path_of(place, "manifest")), 0);
    assert_int_equal(symlink(victim, path_of(place, "manifest")), 0);
    assert_int_equal(shelf_refresh(shelf), ERR_INVALID);
    struct stat about;
    assert_int_equal(stat(victim, &about), 0);
    assert_int_equal(about.st_size, 9);
    shelf_free(shelf);
    assert_true(remove_folder(place->folder, 1));
    assert_int_equal(symlink(place->around, place->folder), 0);
    shelf = open_shelf(place);
    assert_int_equal(shelf_claim(shelf, &thrown_away), ERR_IO);
    shelf_free(shelf);
}

static void wants_a_folder_of_its_own(void **state)
{
    const struct place *place = *state;
    bool thrown_away;
    begin_with_two(place);
    struct shelf *shelf = open_shelf(place);
    assert_int_equal(chmod(place->folder, 0720), 0);
    assert_int_equal(shelf_refresh(shelf), ERR_IO);
    assert_int_equal(errno, EPERM);
    assert_int_equal(shelf_claim(shelf, &thrown_away), ERR_IO);
    assert_int_equal(chmod(place->folder, 0700), 0);
    assert_int_equal(shelf_refresh(shelf), OK);
    /* A pipe in the place of the manifest is not waited for. */
    assert_int_equal(unlink(path_of(place, "manifest")), 0);
    assert_int_equal(mkfifo(path_of(place, "manifest"), 0600), 0);
    assert_int_equal(shelf_refresh(shelf), ERR_INVALID);
    shelf_free(shelf);
    /* No folder can be made below a file. */
    char below[160];
    snprintf(below, sizeof below, "%s/lock/index", place->folder);
    shelf = shelf_new(below, IDENTITY);
    assert_int_equal(shelf_claim(shelf, &thrown_away), ERR_IO);
    assert_int_equal(errno, ENOTDIR);
    shelf_free(shelf);
}

/* A folder that goes away under a writer: the next claim makes it anew, from nothing. */
static void begins_again_in_a_new_folder(void **state)
{
    const struct place *place = *state;
    begin_with_two(place);
    struct shelf *shelf = open_shelf(place);
    assert_int_equal(seen_by(shelf), 2);
    assert_true(remove_folder(place->folder, 1));
    assert_int_equal(shelf_refresh(shelf), ERR_NOTFOUND);
    assert_int_equal(seen_by(shelf), 2); /* as long as nobody wrote anything else */
    claim(shelf);
    assert_int_equal(add(shelf), OK);
    shelf_unclaim(shelf);
    assert_int_equal(seen_by(shelf), 1);
    shelf_free(shelf);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

UNIT_TEST(shelf)
{
    const struct CMUnitTest tests[] = {
        EACH(outlives_files_that_are_cut), /* first: before cmocka sets SIGBUS anew */
        EACH(notices_a_cut_within_a_page),
        EACH(keeps_what_it_was_given),
        EACH(checks_each_block),
        EACH(forgets_what_is_replaced),
        EACH(takes_nothing_out_that_is_not_there),
        EACH(has_one_writer),
        EACH(ends_at_its_ceilings),
        EACH(survives_each_failing_step),
        EACH(survives_its_end_at_each_step),
        EACH(serves_many_processes),
        EACH(serves_many_threads),
        EACH(throws_away_a_damaged_manifest),
        EACH(throws_away_what_is_of_something_else),
        EACH(throws_away_cut_and_missing_segments),
        EACH(follows_no_links),
        EACH(wants_a_folder_of_its_own),
        EACH(begins_again_in_a_new_folder),
    };
    return cmocka_run_group_tests_name("shelf", tests, NULL, NULL);
}
