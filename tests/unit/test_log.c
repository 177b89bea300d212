/* The log of a server: every line goes out, in order, or is counted; whatever stderr is, and from
 * many threads. Each case runs in a process of its own, since a process has one log. */
#include "core/log.h"
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define LINES   5000 /* of each thread: many more than a pipe and the ring hold */
#define TOLD    9    /* a descriptor of the child */
#define SECONDS 60   /* after which a case hangs */
/* The variable that tells this program, started again, to be such a process, and of which kind. */
#define CHILD "FORAGE_TEST_LOG_CHILD"

static void *write_lines(void *number)
{
    for (int i = 0; i < LINES; i++) {
        log_info(NULL, "thread=%d line=%d %.*s", *(const int *)number, i, i % 90,
                 "012345678901234567890123456789012345678901234567890123456789012345678901234567890"
                 "1234567890");
    }
    return NULL;
}

static void log_from_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, write_lines, &numbers[i]) != 0) {
            _exit(2);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* The child: logs, says on TOLD that it has, and ends when the parent closes that. Nothing but the
 * log may keep it. */
static int be_child(bool as_nobody)
{
    char byte = 0;
    alarm(SECONDS);
    signal(SIGPIPE, SIG_IGN);
    if (as_nobody) {
        setfsuid(65534); /* root could open every pipe again */
    }
    log_set_level(LOG_LEVEL_INFO);
    log_never_wait();
    log_from_threads();
    bool met = write(TOLD, &byte, 1) == 1 && read(TOLD, &byte, 1) >= 0;
    log_finish();
    return met ? 0 : 1;
}

struct child {
    pid_t pid;
    int told;
};

/* Starts this program again with `output` as its stderr, which is closed here. */
static struct child start(int output, const char *how)
{
    int pair[2];
    char program[] = "unit";
    char name[] = "log";
    char *arguments[] = {program, name, NULL};
    struct child child;
    assert_int_equal(setenv(CHILD, how, 1), 0);
    posix_spawn_file_actions_t actions;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pair[1], TOLD);
    assert_int_equal(posix_spawn(&child.pid, "/proc/self/exe", &actions, NULL, arguments, environ),
                     0);
    unsetenv(CHILD);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    close(output);
    child.told = pair[0];
    return child;
}

static void wait_for_lines(struct child *child)
{
    char byte;
    assert_int_equal(read(child->told, &byte, 1), 1);
}

static void end(struct child *child)
{
    int status;
    close(child->told);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Reads all lines: each is whole, and those of one thread are in order. How many there were; those
 * that are said to be dropped are added to `dropped`. */
static int check_lines(FILE *log, int *dropped)
{
    char line[512];
    int last[THREADS] = {-1, -1, -1, -1};
    int count = 0;
    while (fgets(line, sizeof line, log)) {
        int thread, number, lost;
        assert_non_null(strchr(line, '\n'));
        if (sscanf(line, "%*s WARN %d lines were dropped", &lost) == 1) {
            *dropped += lost;
            continue;
        }
        assert_int_equal(sscanf(line, "%*s INFO thread=%d line=%d ", &thread, &number), 2);
        assert_in_range(thread, 0, THREADS - 1);
        assert_true(number > last[thread]);
        last[thread] = number;
        count++;
    }
    return count;
}

static void check_unread(int ours, int theirs, const char *how)
{
    int dropped = 0;
    struct child child = start(theirs, how);
    wait_for_lines(&child); /* none of them waited for us */
    FILE *log = fdopen(ours, "r");
    assert_non_null(log);
    /* The end comes while there is much to read: a child that is read is patient. */
    shutdown(child.told, SHUT_WR);
    int count = check_lines(log, &dropped);
    assert_int_equal(count + dropped, THREADS * LINES);
    assert_true(dropped > 0 && count > 0);
    fclose(log);
    end(&child);
}

static void test_pipe(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    check_unread(ends[0], ends[1], "plain");
}

static void test_socket(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    check_unread(ends[0], ends[1], "plain");
}

/* As with a pipe that another user made: the thread waits in write() itself. */
static void test_pipe_that_cannot_be_opened_again(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fchmod(ends[1], 0), 0);
    check_unread(ends[0], ends[1], "nobody");
}

static void test_file(void **state)
{
    (void)state;
    int dropped = 0;
    FILE *log = tmpfile();
    assert_non_null(log);
    struct child child = start(dup(fileno(log)), "plain");
    wait_for_lines(&child);
    end(&child);
    rewind(log);
    int count = check_lines(log, &dropped);
    assert_int_equal(count + dropped, THREADS * LINES);
    fclose(log);
}

static void test_end_without_a_reader(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct child child = start(ends[1], "plain");
    wait_for_lines(&child);
    end(&child);
    close(ends[0]);
}

static void test_reader_that_left(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct child child = start(ends[1], "plain");
    close(ends[0]);
    wait_for_lines(&child);
    end(&child);
}

UNIT_TEST(log)
{
    const char *how = getenv(CHILD);
    if (how) {
        return be_child(strcmp(how, "nobody") == 0);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_socket),
        cmocka_unit_test(test_pipe_that_cannot_be_opened_again),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_end_without_a_reader),
        cmocka_unit_test(test_reader_that_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
