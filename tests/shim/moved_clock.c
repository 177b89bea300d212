/* A clock that somebody sets: preloaded into a program, this library adds what a file says to what
 * the system's clocks say. The file holds two numbers of seconds (64 bits each, of this machine):
 * the first is added to the wall clock, the second to those that count from the start.
 *
 *   LD_PRELOAD=moved_clock.so MOVED_CLOCK=/the/file program
 *
 * The file is mapped, so that a test moves the clock of a running program by writing to it. Files
 * keep the times of the system's own clock. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t STILL[2];
static const volatile int64_t *moved = STILL;

__attribute__((constructor)) static void open_file(void)
{
    const char *path = getenv("MOVED_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *found = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof STILL, PROT_READ, MAP_SHARED, fd, 0);
    if (found == MAP_FAILED) {
        perror("MOVED_CLOCK");
        abort(); /* a shim that does not work must not let a test pass */
    }
    close(fd);
    moved = found;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        now->tv_sec += moved[0];
        break;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
        now->tv_sec += moved[1];
        break;
    default:
        break;
    }
    return result;
}

__attribute__((visibility("default"))) time_t time(time_t *into)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (into) {
        *into = now.tv_sec;
    }
    return now.tv_sec;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *into, void *zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *into = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
