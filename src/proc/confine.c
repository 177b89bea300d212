/* Confinement of a process by itself, before it becomes the program that is to be confined.
 *
 * Files: Landlock, where the kernel has it; else a root folder of its own with nothing else in it,
 * where the system lets an ordinary user make a namespace. Calls: a seccomp filter that lets
 * through what computing needs, and refuses the rest. Neither needs rights, and none comes back:
 * no_new_privs holds for what it starts, too.
 *
 * Landlock and an empty root leave gaps: neither stops a change of modes, owners and times, and
 * Landlock stops truncation only since Linux 6.2. The filter closes them on every kernel: it lets
 * files be opened for reading only, and has no call that changes one. */
#include "proc/confine.h"

#include "core/files.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NOBODY       65534 /* where the table of users has none */
#define PASSWD_ROOM  4096
#define MOST_OWN     16 /* paths that a program outside of the system's folders adds */

const char *confinement_words(unsigned confinement)
{
    static const char *const WORDS[PROC_CONFINED_ALL + 1] = {
        [0] = "with files, network and other programs in reach",
        [PROC_NO_FILES] = "without files, but with network and other programs in reach",
        [PROC_NO_CALLS] = "without network, but with files in reach",
        [PROC_CONFINED_ALL] = "without files, network and other programs",
    };
    return WORDS[confinement & PROC_CONFINED_ALL];
}

/* ---- who it is ---- */

/* Whether any user may reach and run it. */
static bool is_for_all(const char *program)
{
    char part[PATH_MAX];
    struct stat found;
    if (!realpath(program, part) || stat(part, &found) != 0 || !(found.st_mode & S_IXOTH)) {
        return false;
    }
    for (char *slash = strrchr(part, '/'); slash && slash != part; slash = strrchr(part, '/')) {
        *slash = '\0';
        if (stat(part, &found) != 0 || !(found.st_mode & S_IXOTH)) {
            return false;
        }
    }
    return true;
}

/* A program that only root may reach stays root's, and loses the rest. */
static bool drop_root(const char *program)
{
    struct passwd entry = {.pw_uid = NOBODY, .pw_gid = NOBODY};
    struct passwd *found = NULL;
    char room[PASSWD_ROOM];
    if (geteuid() != 0 || !is_for_all(program)) {
        return true;
    }
    if (getpwnam_r("nobody", &entry, room, sizeof room, &found) != 0 || !found) {
        entry.pw_uid = NOBODY;
        entry.pw_gid = NOBODY;
    }
    /* In a container that may not change users it stays root of that container. */
    return setgroups(0, NULL) == 0 && setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid) == 0 &&
           setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid) == 0;
}

/* ---- which files are left ---- */

/* What programs, libraries and fonts are read from. Nothing in them belongs to a person. */
static const char *const SYSTEM[] = {
    "/usr",         "/bin",
    "/lib",         "/lib32",
    "/lib64",       "/nix/store",
    "/gnu/store",   "/etc/ld.so.cache",
    "/etc/fonts",   "/var/cache/fontconfig",
    "/dev/null",    "/dev/zero",
    "/dev/urandom",
};

/* Beside the folder of a program that is installed elsewhere. */
static const char *const BESIDE[] = {"lib", "lib64", "share/poppler", "share/fonts", "etc/fonts"};

struct files {
    char own[MOST_OWN][PATH_MAX];
    size_t own_count;
};

static bool is_system(const char *path)
{
    for (size_t i = 0; i < COUNT(SYSTEM); i++) {
        size_t length = strlen(SYSTEM[i]);
        if (strncmp(path, SYSTEM[i], length) == 0 && path[length] == '/') {
            return true;
        }
    }
    return false;
}

static void add_own(struct files *files, const char *path)
{
    if (files->own_count < MOST_OWN && !is_system(path) && access(path, F_OK) == 0) {
        snprintf(files->own[files->own_count++], PATH_MAX, "%s", path);
    }
}

/* The program itself, by the name that it is started by and where links lead, and what lies beside
 * its folder. */
static void find_own(struct files *files, const char *program)
{
    char real[PATH_MAX];
    char path[PATH_MAX + 32];
    char beside[PATH_MAX];
    const char *const names[] = {program, realpath(program, real) ? real : program};
    files->own_count = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        if (is_system(names[i])) {
            continue;
        }
        add_own(files, names[i]);
        const char *slash = strrchr(names[i], '/');
        int length = slash ? (int)(slash - names[i]) : 0;
        for (size_t j = 0; j < COUNT(BESIDE); j++) {
            snprintf(path, sizeof path, "%.*s/../%s", length, names[i], BESIDE[j]);
            if (realpath(path, beside)) {
                add_own(files, beside);
            }
        }
    }
}

/* ---- Landlock ---- */

/* The kernel's interface, as far as it goes here; the headers of a system may be older than its
 * kernel. */
#define LANDLOCK_CREATE   444 /* the same numbers on every architecture */
#define LANDLOCK_ADD      445
#define LANDLOCK_RESTRICT 446
#define ASK_VERSION       1u
#define RULE_BENEATH      1
#define MAY_EXECUTE       (1ull << 0)
#define MAY_READ_FILE     (1ull << 2)
#define MAY_READ_FOLDER   (1ull << 3)

struct landlock_rules {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

struct landlock_beneath {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

/* What each version of Landlock can refuse: all that it knows is refused. */
static const struct landlock_rules KNOWN[] = {
    {0x1fff, 0, 0}, /* 5.13 */
    {0x3fff, 0, 0}, /* 5.19: moving between folders */
    {0x7fff, 0, 0}, /* 6.2: truncating */
    {0x7fff, 3, 0}, /* 6.7: TCP */
    {0xffff, 3, 0}, /* 6.10: devices */
    {0xffff, 3, 3}, /* 6.12: abstract sockets, signals */
};

static bool allow_beneath(int rules, const char *path)
{
    struct stat found;
    struct landlock_beneath beneath = {.folder = open(path, O_PATH | O_CLOEXEC)};
    if (beneath.folder < 0) {
        return errno == ENOENT || errno == EACCES || errno == ENOTDIR;
    }
    bool is_folder = fstat(beneath.folder, &found) == 0 && S_ISDIR(found.st_mode);
    beneath.allowed = MAY_EXECUTE | MAY_READ_FILE | (is_folder ? MAY_READ_FOLDER : 0);
    bool added = syscall(LANDLOCK_ADD, rules, RULE_BENEATH, &beneath, 0) == 0;
    close(beneath.folder);
    return added;
}

static bool restrict_by_landlock(const struct files *files)
{
    long version = syscall(LANDLOCK_CREATE, NULL, 0, ASK_VERSION);
    if (version < 1) {
        return false;
    }
    size_t known = (size_t)version < COUNT(KNOWN) ? (size_t)version : COUNT(KNOWN);
    struct landlock_rules refused = KNOWN[known - 1];
    int rules = (int)syscall(LANDLOCK_CREATE, &refused, sizeof refused, 0);
    bool done = rules >= 0;
    for (size_t i = 0; done && i < COUNT(SYSTEM); i++) {
        done = allow_beneath(rules, SYSTEM[i]);
    }
    for (size_t i = 0; done && i < files->own_count; i++) {
        done = allow_beneath(rules, files->own[i]);
    }
    done = done && syscall(LANDLOCK_RESTRICT, rules, 0) == 0;
    if (rules >= 0) {
        close(rules);
    }
    return done;
}

/* ---- an empty root ---- */

#define NEW_ROOT "/tmp" /* where it is made; what is there stays for everybody else */
#define OLD_ROOT "/old" /* in the new one, while that is filled */

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) {
        close(fd);
    }
    return written;
}

/* A namespace in which an ordinary user may mount, and is still itself. */
static bool enter_namespace(void)
{
    char users[64];
    char groups[64];
    snprintf(users, sizeof users, "%u %u 1", geteuid(), geteuid());
    snprintf(groups, sizeof groups, "%u %u 1", getegid(), getegid());
    /* Who has changed its user may write these files only when it may be looked at. */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
           write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", users) &&
           write_text("/proc/self/gid_map", groups) &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static void make_parents(const char *path)
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(part, 0755);
        *slash = '/';
    }
}

/* The flags of a mount that must stay when it is made read-only. */
static unsigned long flags_of(const char *path)
{
    static const struct {
        unsigned long seen;
        unsigned long flag;
    } FLAGS[] = {
        {ST_NOSUID, MS_NOSUID},   {ST_NODEV, MS_NODEV},           {ST_NOEXEC, MS_NOEXEC},
        {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME},
    };
    struct statvfs found;
    unsigned long flags = 0;
    for (size_t i = 0; statvfs(path, &found) == 0 && i < COUNT(FLAGS); i++) {
        flags |= found.f_flag & FLAGS[i].seen ? FLAGS[i].flag : 0;
    }
    return flags;
}

/* Shows a file or folder of the old root at the same path of the new one; what is not there is no
 * failure. */
static bool show(const char *path)
{
    char old[PATH_MAX + sizeof OLD_ROOT];
    char target[PATH_MAX];
    struct stat found;
    snprintf(old, sizeof old, OLD_ROOT "%s", path);
    if (lstat(old, &found) != 0) {
        return true;
    }
    make_parents(path);
    if (S_ISLNK(found.st_mode)) {
        ssize_t length = readlink(old, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        return length > 0 && (symlink(target, path) == 0 || errno == EEXIST);
    }
    int made = S_ISDIR(found.st_mode) ? mkdir(path, 0755) : mknod(path, S_IFREG | 0644, 0);
    return (made == 0 || errno == EEXIST) && mount(old, path, NULL, MS_BIND | MS_REC, NULL) == 0 &&
           mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | flags_of(path), NULL) == 0;
}

static bool restrict_by_root(const struct files *files)
{
    bool done = enter_namespace() &&
                mount(NULL, NEW_ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") == 0 &&
                mkdir(NEW_ROOT OLD_ROOT, 0700) == 0 &&
                syscall(SYS_pivot_root, NEW_ROOT, NEW_ROOT OLD_ROOT) == 0 && chdir("/") == 0;
    for (size_t i = 0; done && i < COUNT(SYSTEM); i++) {
        done = show(SYSTEM[i]);
    }
    for (size_t i = 0; done && i < files->own_count; i++) {
        done = show(files->own[i]);
    }
    return done && umount2(OLD_ROOT, MNT_DETACH) == 0 && rmdir(OLD_ROOT) == 0 &&
           mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) == 0;
}

unsigned confine_files(const char *program)
{
    struct files files;
    find_own(&files, program);
    if (!drop_root(program) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return 0;
    }
    return restrict_by_landlock(&files) || restrict_by_root(&files) ? PROC_NO_FILES : 0;
}

/* ---- calls ---- */

#if defined __x86_64__
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCHITECTURE

/* Allowed whatever they are asked for: they reach this process alone, or read. */
static const unsigned ALLOWED[] = {
    /* what is open already, and the names of files */
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_lseek,
    SYS_close,
    436 /* close_range */,
    SYS_dup,
    SYS_dup3,
    SYS_fadvise64,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_statfs,
    SYS_fstatfs,
    SYS_faccessat,
    439 /* faccessat2 */,
    SYS_readlinkat,
    SYS_getdents64,
    SYS_getcwd,
    SYS_chdir,
    SYS_fchdir,
    SYS_umask,
    SYS_ppoll,
    SYS_pselect6,
    /* memory */
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    /* its own thread, signals and end */
    SYS_futex,
    SYS_set_tid_address,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_sched_yield,
    SYS_restart_syscall,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigpending,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_execve, /* the program itself; what it becomes stays confined */
    SYS_exit,
    SYS_exit_group,
    /* time and chance */
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_times,
    SYS_getrusage,
    SYS_getrandom,
    /* who and where it is */
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getgroups,
    SYS_getcpu,
    SYS_uname,
    SYS_sysinfo,
#ifdef __x86_64__ /* which has older calls beside some of these */
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_dup2,
    SYS_poll,
    SYS_select,
    SYS_pause,
    SYS_time,
    SYS_getpgrp,
    SYS_arch_prctl,
#endif
};

/* An argument is two words of 32 bits, the lower one first. Numbers, flags and commands lie in the
 * lower one, and the kernel looks at no more of them; a pointer has both. */
#define MOST_CHECKS 3
#define LOW(n)      offsetof(struct seccomp_data, args[n])
#define HIGH(n)     (LOW(n) + sizeof(uint32_t))
#define WHOLE       UINT32_MAX
#define SELF        UINT32_MAX /* stands for the number of this process */
#define CHANGES     (O_ACCMODE | O_CREAT | O_TRUNC)

struct argument_check {
    uint32_t at;
    uint32_t mask; /* 0: no check, which holds */
    uint32_t value;
};

/* Allowed when all checks of a row hold. */
static const struct checked_call {
    unsigned call;
    struct argument_check checks[MOST_CHECKS];
} CHECKED[] = {
    {SYS_openat, {{LOW(2), CHANGES, O_RDONLY}}},
#ifdef __x86_64__
    {SYS_open, {{LOW(1), CHANGES, O_RDONLY}}},
#endif
    /* Others would have the kernel signal any process of this user. */
    {SYS_fcntl, {{LOW(1), WHOLE, F_DUPFD}}},
    {SYS_fcntl, {{LOW(1), WHOLE, F_DUPFD_CLOEXEC}}},
    {SYS_fcntl, {{LOW(1), WHOLE, F_GETFD}}},
    {SYS_fcntl, {{LOW(1), WHOLE, F_SETFD}}},
    {SYS_fcntl, {{LOW(1), WHOLE, F_GETFL}}},
    {SYS_fcntl, {{LOW(1), WHOLE, F_SETFL}}},
    {SYS_ioctl, {{LOW(1), WHOLE, TCGETS}}}, /* is it a terminal? */
    {SYS_ioctl, {{LOW(1), WHOLE, TIOCGWINSZ}}},
    {SYS_ioctl, {{LOW(1), WHOLE, FIONREAD}}},
    {SYS_ioctl, {{LOW(1), WHOLE, FIOCLEX}}},
    {SYS_ioctl, {{LOW(1), WHOLE, FIONCLEX}}},
    {SYS_kill, {{LOW(0), WHOLE, SELF}}},
    {SYS_tgkill, {{LOW(0), WHOLE, SELF}}},
    /* Reading its own bounds; a root of its container could raise them. */
    {SYS_prlimit64, {{LOW(0), WHOLE, 0}, {LOW(2), WHOLE, 0}, {HIGH(2), WHOLE, 0}}},
    {SYS_getpgid, {{LOW(0), WHOLE, 0}}},
    {SYS_getsid, {{LOW(0), WHOLE, 0}}},
    {SYS_getpriority, {{LOW(1), WHOLE, 0}}},
    {SYS_sched_getaffinity, {{LOW(0), WHOLE, 0}}},
};

/* The first of the numbers that all architectures share (Linux 5.1). A library that uses a call
 * from there on also runs on kernels without it: told that there is none, it tries an older one. */
#define FIRST_SHARED 424

#define MOST_STEPS        (8 + 2 * COUNT(ALLOWED) + (3 + 3 * MOST_CHECKS) * COUNT(CHECKED))
#define LOAD_AT(at)       BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define LOAD(member)      LOAD_AT(offsetof(struct seccomp_data, member))
#define ANSWER(value)     BPF_STMT(BPF_RET | BPF_K, value)
#define SKIP_UNLESS(k, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, 0, n)
#define MASK(bits)        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)

/* Every filter begins and ends with these. Calls of another architecture on the same processor come
 * with its name, or with numbers beyond all others. */
static const struct sock_filter FIRST[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
    ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
    LOAD(nr),
};
static const struct sock_filter LAST[] = {
    LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_SHARED, 1, 0),
    ANSWER(SECCOMP_RET_ERRNO | EPERM),
    ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
};

struct steps {
    struct sock_filter steps[MOST_STEPS];
    unsigned short count;
};

static void add(struct steps *filter, struct sock_filter step)
{
    filter->steps[filter->count++] = step;
}

static void add_all(struct steps *filter, const struct sock_filter *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(filter, steps[i]);
    }
}

/* What does not hold skips the rest of the row. */
static void add_row(struct steps *filter, const struct checked_call *row, unsigned self)
{
    unsigned checks = 0;
    while (checks < MOST_CHECKS && row->checks[checks].mask) {
        checks++;
    }
    add(filter, (struct sock_filter)LOAD(nr));
    add(filter, (struct sock_filter)SKIP_UNLESS(row->call, (uint8_t)(3 * checks + 1)));
    for (unsigned i = 0; i < checks; i++) {
        const struct argument_check *check = &row->checks[i];
        uint32_t value = check->value == SELF ? self : check->value;
        add(filter, (struct sock_filter)LOAD_AT(check->at));
        add(filter, (struct sock_filter)MASK(check->mask));
        add(filter, (struct sock_filter)SKIP_UNLESS(value, (uint8_t)(3 * (checks - i) - 2)));
    }
    add(filter, (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
}

unsigned confine_calls(void)
{
    struct steps filter = {.count = 0};
    add_all(&filter, FIRST, COUNT(FIRST));
    for (size_t i = 0; i < COUNT(ALLOWED); i++) {
        add(&filter, (struct sock_filter)SKIP_UNLESS(ALLOWED[i], 1));
        add(&filter, (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
    }
    for (size_t i = 0; i < COUNT(CHECKED); i++) {
        add_row(&filter, &CHECKED[i], (unsigned)getpid());
    }
    add_all(&filter, LAST, COUNT(LAST));
    const struct sock_fprog program = {.len = filter.count, .filter = filter.steps};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? PROC_NO_CALLS : 0;
}

#else

unsigned confine_calls(void)
{
    return 0;
}

#endif
