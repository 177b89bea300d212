/* Starting the browser: which one there is, the folder that it keeps its things in, and how it is
 * run. */
#include "browser/launch.h"

#include "config/config.h"
#include "core/files.h"
#include "core/limits.h"
#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define INSTALL                                                                                    \
    "install chromium-headless-shell, chromium or Google Chrome, or name a "                       \
    "browser in FORAGE_BROWSER_PATH"
#define OTHER_NAME      "nobody"
#define SETPRIV         "/usr/bin/setpriv"
#define SETPRIV_REFUSED 126 /* and above: it could not change the user or run the program */
#define TEXT_SIZE       384
#define PASSWD_ROOM     4096
#define COUNT(array)    (sizeof(array) / sizeof *(array))

/* ---- which browser there is ---- */

static const char *const VARIABLES[] = {"FORAGE_BROWSER_PATH", "CHROME_BIN"};

/* In the order of preference: the smallest starts fastest. What stands in /usr/bin is a script that
 * starts the program; the program itself is one process less, and no shell. */
static const struct {
    const char *name;
    const char *script;
    const char *program;
} BROWSERS[] = {
    {"chromium-headless-shell", "/usr/bin/chromium-headless-shell",
     "/usr/lib/chromium/chromium-headless-shell"},
    {"chromium", "/usr/bin/chromium", "/usr/lib/chromium/chromium"},
    {"google-chrome", "/usr/bin/google-chrome", "/opt/google/chrome/chrome"},
    {"google-chrome-stable", "/usr/bin/google-chrome-stable", "/opt/google/chrome/chrome"},
};

#define SNAPS "/snap/bin/"

/* A Snap keeps its programs behind one that is called snap, which looks at the name that it was
 * called by; Ubuntu's chromium-browser is a script that starts it. Writes what the Snap is called;
 * "" where it is none. */
static void name_snap(const char *path, char *name, size_t size)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    char real[PATH_MAX];
    char text[4096] = "";
    const char *found = NULL;
    *name = '\0';
    if (!realpath(path, real)) {
        return;
    }
    int fd = open(real, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    if (strncmp(real, "/snap/", strlen("/snap/")) == 0) {
        found = real + strlen("/snap/");
    } else if (strcmp(strrchr(real, '/'), "/snap") == 0) {
        found = strrchr(path, '/') + 1;
    } else if (got > 2 && memcmp(text, "#!", 2) == 0 && strstr(text, SNAPS)) {
        found = strstr(text, SNAPS) + strlen(SNAPS);
    }
    if (found) {
        snprintf(name, size, "%.*s", (int)strspn(found, LETTERS), found);
    }
}

/* The program behind a packaged script, else the path itself. */
static const char *behind_script(const char *path)
{
    for (size_t i = 0; i < COUNT(BROWSERS); i++) {
        if (strcmp(path, BROWSERS[i].script) == 0 && is_program(BROWSERS[i].program)) {
            return BROWSERS[i].program;
        }
    }
    return path;
}

static int use(const char *path, struct browser_program *program, char *problem, size_t size)
{
    name_snap(path, program->snap, sizeof program->snap);
    if (snprintf(program->path, sizeof program->path, "%s", behind_script(path)) >=
        (int)sizeof program->path) {
        snprintf(problem, size, "the path of the browser is too long");
        return ERR_NOTFOUND;
    }
    return OK;
}

/* What a variable names; ERR_NOTFOUND with an empty `problem` where none does. */
static int find_named(struct browser_program *program, bool *by_us, char *problem, size_t size)
{
    *problem = '\0';
    for (size_t i = 0; i < COUNT(VARIABLES); i++) {
        const char *named = config_text(VARIABLES[i]);
        if (named && *named) {
            *by_us = i == 0;
            if (is_program(named)) {
                return use(named, program, problem, size);
            }
            snprintf(problem, size, "%s names %s, which is no program",
                     config_name_used(VARIABLES[i]), named);
            return ERR_NOTFOUND;
        }
    }
    return ERR_NOTFOUND;
}

static int find_on_machine(struct browser_program *program, char *problem, size_t size)
{
    char candidate[LAUNCH_PATH_SIZE];
    struct browser_program snap = {.path = ""};
    snprintf(problem, size, "there is no browser: %s", INSTALL);
    for (size_t i = 0; i < COUNT(BROWSERS); i++) {
        if (find_on_path(BROWSERS[i].name, candidate, sizeof candidate) &&
            use(candidate, program, problem, size) == OK) {
            if (!*program->snap) {
                return OK;
            }
            snap = *snap.path ? snap : *program;
        }
    }
    if (!*snap.path && is_program(SNAPS "chromium")) { /* services have no such folder on PATH */
        return use(SNAPS "chromium", program, problem, size);
    }
    *program = snap;
    return *snap.path ? OK : ERR_NOTFOUND;
}

int launch_find(bool serves, struct browser_program *program, char *problem, size_t size)
{
    bool by_us = false;
    int status = find_named(program, &by_us, problem, size);
    if (status != OK && !*problem) {
        status = find_on_machine(program, problem, size);
    }
    if (status == OK && *program->snap && serves && !by_us) {
        snprintf(problem, size,
                 "%s is a Snap, whose port other users of this machine can reach: `forage serve` "
                 "uses it only where FORAGE_BROWSER_PATH names it; or %s",
                 program->path, INSTALL);
        return ERR_NOTFOUND;
    }
    return status;
}

/* ---- how it is run ---- */

#define DISABLED_FEATURES                                                                          \
    "IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter,"                     \
    "DialMediaRouteProvider,WebRtcHideLocalIpsWithMdns,WebTransport"

/* What every browser is started with. */
static const char *const ARGUMENTS[] = {
    "--headless",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-notifications",
    "--mute-audio",
    "--hide-scrollbars",
    "--block-new-web-contents",
    /* Nothing of its own accord. */
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--metrics-recording-only",
    "--no-pings",
    /* Text is wanted, not looks. */
    "--blink-settings=imagesEnabled=false",
    "--disable-remote-fonts",
    "--autoplay-policy=user-gesture-required",
    /* A page lives in a context of its own that holds nothing to steal: one process for it and its
     * frames is enough. */
    "--disable-features=" DISABLED_FEATURES,
    "--renderer-process-limit=8",
    "--js-flags=--max-old-space-size=512",
    /* The proxy is the only way out: for loopback too, for no UDP, and with names that only the
     * proxy looks up. */
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
};

static const struct {
    bool other_user;
    bool sandbox;
    const char *words;
} CONFINEMENTS[] = {
    [OTHER_USER_AND_SANDBOX] = {true, true, "as another user, in its sandbox"},
    [SANDBOX] = {false, true, "in its sandbox"},
    [OTHER_USER] = {true, false, "as another user, without its sandbox"},
    [UNCONFINED] = {false, false, "without its sandbox"},
};

/* ---- confinement ---- */

static bool find_other_user(uid_t *user, gid_t *group)
{
    struct passwd entry;
    struct passwd *found = NULL;
    char room[PASSWD_ROOM];
    if (getpwnam_r(OTHER_NAME, &entry, room, sizeof room, &found) != 0 || !found) {
        return false;
    }
    *user = found->pw_uid;
    *group = found->pw_gid;
    return true;
}

enum confinement launch_best(const struct browser_program *program)
{
    uid_t user;
    gid_t group;
    if (geteuid() != 0) {
        return SANDBOX;
    }
    if (*program->snap) { /* for another user without a home it does not start */
        return UNCONFINED;
    }
    return access(SETPRIV, X_OK) == 0 && find_other_user(&user, &group) ? OTHER_USER_AND_SANDBOX
                                                                        : UNCONFINED;
}

enum confinement launch_next(enum confinement confinement, const struct proc_exit *exit,
                             const char *errors)
{
    if (CONFINEMENTS[confinement].other_user && exit->code >= SETPRIV_REFUSED) {
        return UNCONFINED;
    }
    bool without = strstr(errors, "No usable sandbox") || strstr(errors, "sandbox_host_linux") ||
                   strstr(errors, "zygote_host_impl_linux");
    if (CONFINEMENTS[confinement].sandbox && without) {
        return confinement == SANDBOX ? UNCONFINED : OTHER_USER;
    }
    return confinement;
}

const char *launch_words(enum confinement confinement)
{
    return CONFINEMENTS[confinement].words;
}

/* ---- starting and ending ---- */

static size_t add(const char **arguments, size_t count, const char *const *more, size_t more_count)
{
    memcpy(arguments + count, more, more_count * sizeof *more);
    return count + more_count;
}

/* Of our environment, what a Snap does not start without: its home is below ours, and it asks
 * systemd for a scope. */
static void add_for_snap(const char **environment, size_t count)
{
    static const char *const NAMES[] = {"HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"};
    for (size_t i = 0; i < COUNT(NAMES); i++) {
        const char *value = getenv(NAMES[i]);
        if (value) {
            environment[count++] = value - strlen(NAMES[i]) - 1; /* "NAME=value" */
        }
    }
}

static int start(struct call *call, struct launched *launched,
                 const struct browser_program *program, uint16_t proxy_port,
                 enum confinement confinement, uid_t user, gid_t group)
{
    char as_user[TEXT_SIZE], as_group[TEXT_SIZE], proxy[TEXT_SIZE];
    char folder[TEXT_SIZE], home[TEXT_SIZE], scratch[TEXT_SIZE];
    bool snap = *program->snap != '\0';
    const char *const change_user[] = {
        SETPRIV, as_user, as_group, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
        "--"};
    const char *const last[] = {"--no-sandbox", proxy, folder, "about:blank", NULL};
    const char *environment[8] = {scratch, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
    const char *arguments[COUNT(change_user) + 2 + COUNT(ARGUMENTS) + COUNT(last)];
    size_t count = 0;
    snprintf(as_user, sizeof as_user, "--reuid=%u", user);
    snprintf(as_group, sizeof as_group, "--regid=%u", group);
    snprintf(proxy, sizeof proxy, "--proxy-server=http://127.0.0.1:%u", proxy_port);
    snprintf(folder, sizeof folder, "--user-data-dir=%s", launched->profile.path);
    snprintf(home, sizeof home, "HOME=%s", launched->profile.path);
    snprintf(scratch, sizeof scratch, "TMPDIR=%s", launched->profile.path);
    if (snap) {
        add_for_snap(environment, 3);
    } else {
        environment[3] = home;
    }
    if (CONFINEMENTS[confinement].other_user) {
        count = add(arguments, count, change_user, COUNT(change_user));
    }
    arguments[count++] = program->path;
    arguments[count++] = snap ? "--remote-debugging-port=0" : "--remote-debugging-pipe";
    count = add(arguments, count, ARGUMENTS, COUNT(ARGUMENTS));
    size_t skipped = CONFINEMENTS[confinement].sandbox ? 1 : 0;
    add(arguments, count, last + skipped, COUNT(last) - skipped);
    struct proc_options options = {
        .arguments = arguments,
        .environment = environment,
        .directory = "/",
        .keep_input_open = true,
        .on_descriptors_3_4 = true,
        .scratch = &launched->profile,
        .bounds = {.data_bytes = LIMIT_BROWSER_PROCESS_BYTES,
                   .tree_bytes = LIMIT_BROWSER_BYTES((size_t)config_int("FORAGE_BROWSER_PAGES"))},
    };
    unsigned confinement_by_us;
    return child_start(call, &options, &launched->child, &launched->pipes, &confinement_by_us);
}

/* Closes what messages go through. */
static void close_messages(struct child_pipes *pipes)
{
    if (pipes->input >= 0) {
        close(pipes->input);
    }
    if (pipes->output >= 0) {
        close(pipes->output);
    }
    pipes->input = pipes->output = -1;
}

/* The folder of a Snap's own that all its versions share, made where it never ran:
 * ~/snap/NAME/common. OK or ERR_IO. */
static int home_of_snap(const char *name, char path[PROC_SCRATCH_SIZE])
{
    const char *const parts[] = {"snap", name, "common"};
    const char *home = getenv("HOME");
    int length = snprintf(path, PROC_SCRATCH_SIZE, "%s", home ? home : "");
    for (size_t i = 0; i < COUNT(parts) && length > 0 && length < PROC_SCRATCH_SIZE; i++) {
        length += snprintf(path + length, PROC_SCRATCH_SIZE - (size_t)length, "/%s", parts[i]);
        if (length < PROC_SCRATCH_SIZE && mkdir(path, 0700) != 0 && errno != EEXIST) {
            return ERR_IO;
        }
    }
    return *path == '/' && length < PROC_SCRATCH_SIZE ? OK : ERR_IO;
}

int launch_browser(struct call *call, struct launched *launched,
                   const struct browser_program *program, uint16_t proxy_port,
                   enum confinement confinement)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    char parent[PROC_SCRATCH_SIZE];
    bool snap = *program->snap != '\0';
    memset(launched, 0, sizeof *launched);
    launched->profile.lock = -1;
    if (CONFINEMENTS[confinement].other_user && !find_other_user(&user, &group)) {
        return ERR_IO;
    }
    int status = snap ? home_of_snap(program->snap, parent) : OK;
    if (status == OK) {
        status = scratch_make(&launched->profile, snap ? parent : NULL, "browser", user, group);
    }
    if (status == OK) {
        status = start(call, launched, program, proxy_port, confinement, user, group);
    }
    if (status != OK) {
        scratch_remove(&launched->profile);
    } else if (snap) {
        close_messages(&launched->pipes); /* it does not hear us there */
    }
    return status;
}

int launch_connect(struct launched *launched, uint16_t port)
{
    struct child_pipes *pipes = &launched->pipes;
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    pipes->output = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected =
        pipes->output >= 0 &&
        connect(pipes->output, (const struct sockaddr *)&address, sizeof address) == 0 &&
        fcntl(pipes->output, F_SETFL, O_NONBLOCK) == 0;
    pipes->input = connected ? fcntl(pipes->output, F_DUPFD_CLOEXEC, 0) : -1;
    return pipes->input >= 0 ? OK : ERR_IO;
}

void launch_end(struct launched *launched)
{
    if (!launched->child) {
        return;
    }
    child_signal(launched->child, SIGKILL); /* its folder goes too: there is nothing to save */
    close_messages(&launched->pipes);
    if (launched->pipes.errors >= 0) {
        close(launched->pipes.errors);
    }
    launched->child = child_release(launched->child);
}
