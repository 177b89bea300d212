/* Confinement of a process by itself, before it becomes the program that is to be confined.
 *
 * Files: Landlock, where the kernel has it; else a root folder of its own with nothing else in it,
 * where the system lets an ordinary user make a namespace. Calls: a seccomp filter that refuses
 * what reaches beyond the process. Neither needs rights, and none comes back: no_new_privs holds
 * for what it starts, too.
 *
 * The filter names what is refused, not what is allowed: libraries use new calls with every
 * version, while the ways out of a process are few and change rarely. */
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

/* Refused whatever they are asked for. What an architecture or the headers do not have has no
 * number. */
static const unsigned REFUSED[] = {
    /* sockets, and the ring that can open them */
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    425 /* io_uring_setup */,
    /* new processes */
    SYS_clone,
    435 /* clone3 */,
    SYS_unshare,
    SYS_setns,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
    /* other processes */
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    424 /* pidfd_send_signal */,
    434 /* pidfd_open */,
    438 /* pidfd_getfd */,
    440 /* process_madvise */,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_sched_setattr,
    SYS_sched_setaffinity,
    SYS_migrate_pages,
    SYS_move_pages,
    /* memory and messages that outlive it */
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
    SYS_memfd_create,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    /* the kernel itself */
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_personality,
};

/* Allowed when their first argument is this process, by its number or as 0. */
static const unsigned ABOUT_ONESELF[] = {SYS_kill, SYS_tgkill, SYS_prlimit64};

#define MOST_STEPS        (8 + 2 * COUNT(REFUSED) + 6 * COUNT(ABOUT_ONESELF))
#define LOAD(member)      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define ANSWER(value)     BPF_STMT(BPF_RET | BPF_K, value)
#define SKIP_UNLESS(k, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, 0, n)
#define SKIP_IF(k, n)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, n, 0)
#define NOT_PERMITTED     (SECCOMP_RET_ERRNO | EPERM)
#define OTHER_NUMBERS     0x40000000u /* calls of another architecture on the same processor */

/* Every filter begins with these: calls of this architecture alone. */
static const struct sock_filter FIRST[] = {
    LOAD(arch),
    SKIP_IF(OWN_ARCHITECTURE, 1),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_NUMBERS, 0, 1),
    ANSWER(NOT_PERMITTED),
};

unsigned confine_calls(void)
{
    struct sock_filter steps[MOST_STEPS];
    unsigned short count = COUNT(FIRST);
    unsigned self = (unsigned)getpid();
    memcpy(steps, FIRST, sizeof FIRST);
    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        steps[count++] = (struct sock_filter)SKIP_UNLESS(REFUSED[i], 1);
        steps[count++] = (struct sock_filter)ANSWER(NOT_PERMITTED);
    }
    for (size_t i = 0; i < COUNT(ABOUT_ONESELF); i++) {
        steps[count++] = (struct sock_filter)SKIP_UNLESS(ABOUT_ONESELF[i], 5);
        steps[count++] = (struct sock_filter)LOAD(args[0]);
        steps[count++] =
            (struct sock_filter)SKIP_IF(ABOUT_ONESELF[i] == SYS_prlimit64 ? 0 : self, 1);
        steps[count++] = (struct sock_filter)SKIP_UNLESS(self, 1);
        steps[count++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
        steps[count++] = (struct sock_filter)ANSWER(NOT_PERMITTED);
    }
    steps[count++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
    const struct sock_fprog filter = {.len = count, .filter = steps};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0 ? PROC_NO_CALLS : 0;
}

#else

unsigned confine_calls(void)
{
    return 0;
}

#endif
