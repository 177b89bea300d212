/* Mapped files that are cut or fail. The handler of SIGBUS stays from the first mapping of a
 * process on, and cmocka has its own in each test: so each test is a process of its own. */
#include "core/checksum.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/mapping.h"

#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH 300000

/* A file of x. */
static int make_file(void)
{
    char path[] = "/tmp/test_mapping.XXXXXX";
    static char bytes[LENGTH];
    int fd = mkstemp(path);
    memset(bytes, 'x', sizeof bytes);
    if (fd < 0 || unlink(path) != 0 || write(fd, bytes, sizeof bytes) != sizeof bytes) {
        _exit(90);
    }
    return fd;
}

/* How it ended, as of waitpid(). */
static int run(void (*test)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGBUS, SIG_DFL);
        test();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void require(bool holds, int line)
{
    if (!holds) {
        fprintf(stderr, "test_mapping.c:%d\n", line);
        _exit(1);
    }
}
#define REQUIRE(holds) require(holds, __LINE__)

static void read_cut(void)
{
    struct mapping *cut = NULL;
    struct mapping *whole = NULL;
    int fd = make_file();
    int other = make_file();
    REQUIRE(mapping_open(fd, LENGTH, &cut) == OK && mapping_open(other, LENGTH, &whole) == OK);
    const volatile unsigned char *data = mapping_data(cut);
    REQUIRE(data[LENGTH - 1] == 'x' && ftruncate(fd, 5000) == 0);
    REQUIRE(!mapping_damaged(cut));
    REQUIRE(data[LENGTH - 1] == 0 && data[0] == 0 && mapping_damaged(cut));
    REQUIRE(mapping_data(whole)[LENGTH - 1] == 'x' && !mapping_damaged(whole));
    mapping_close(cut);
    REQUIRE(mapping_open(other, LENGTH, &cut) == OK && !mapping_damaged(cut));
    mapping_close(cut);
    mapping_close(whole);
}

static void survives_a_cut(void **state)
{
    (void)state;
    assert_int_equal(run(read_cut), 0);
}

static struct mapping *shared;

static void *add_up(void *context)
{
    (void)context;
    for (int i = 0; i < 20; i++) {
        (void)checksum(mapping_data(shared), LENGTH);
    }
    return NULL;
}

static void read_in_threads(void)
{
    pthread_t threads[4];
    int fd = make_file();
    REQUIRE(mapping_open(fd, LENGTH, &shared) == OK);
    REQUIRE(ftruncate(fd, 0) == 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        REQUIRE(thread_start(&threads[i], 0, add_up, NULL) == OK);
    }
    (void)checksum(mapping_data(shared), LENGTH);
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    REQUIRE(mapping_damaged(shared));
    mapping_close(shared);
}

static void survives_a_cut_in_every_thread(void **state)
{
    (void)state;
    assert_int_equal(run(read_in_threads), 0);
}

/* A fault somewhere else is no business of ours. */
static void read_other_map(void)
{
    struct mapping *mapping = NULL;
    int fd = make_file();
    REQUIRE(mapping_open(fd, LENGTH, &mapping) == OK);
    const volatile unsigned char *data = mmap(NULL, LENGTH, PROT_READ, MAP_SHARED, fd, 0);
    REQUIRE(data != MAP_FAILED && ftruncate(fd, 0) == 0);
    _exit(data[LENGTH - 1]);
}

static void raise_it(void)
{
    struct mapping *mapping = NULL;
    REQUIRE(mapping_open(make_file(), LENGTH, &mapping) == OK);
    raise(SIGBUS);
}

static void on_fault(int number)
{
    _exit(number + 50);
}

static void read_with_a_handler(void)
{
    signal(SIGBUS, on_fault);
    read_other_map();
}

static void leaves_other_faults_alone(void **state)
{
    (void)state;
    int status = run(read_other_map);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    status = run(raise_it);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    status = run(read_with_a_handler);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == SIGBUS + 50);
}

static void map_too_many(void)
{
    static struct mapping *all[LIMIT_MAPPINGS];
    struct mapping *one = NULL;
    int fd = make_file();
    for (size_t i = 0; i < LIMIT_MAPPINGS; i++) {
        REQUIRE(mapping_open(fd, 1, &all[i]) == OK);
    }
    REQUIRE(mapping_open(fd, 1, &one) == ERR_LIMIT);
    mapping_close(all[7]);
    REQUIRE(mapping_open(fd, 1, &one) == OK && one == all[7]);
    REQUIRE(mapping_open(-1, 1, &one) == ERR_IO);
}

static void has_a_ceiling(void **state)
{
    (void)state;
    assert_int_equal(run(map_too_many), 0);
}

/* Any bit, any cut, any length. */
static void notices_every_change(void **state)
{
    (void)state;
    unsigned char bytes[100] = {0};
    for (size_t length = 0; length <= sizeof bytes; length++) {
        uint64_t sum = checksum(bytes, length);
        for (size_t bit = 0; bit < length * 8; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            assert_true(checksum(bytes, length) != sum);
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        for (size_t shorter = 0; shorter < length; shorter++) {
            assert_true(checksum(bytes, shorter) != sum);
        }
    }
}

UNIT_TEST(mapping)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_a_cut),
        cmocka_unit_test(survives_a_cut_in_every_thread),
        cmocka_unit_test(leaves_other_faults_alone),
        cmocka_unit_test(has_a_ceiling),
        cmocka_unit_test(notices_every_change),
    };
    return cmocka_run_group_tests_name("mapping", tests, NULL, NULL);
}
