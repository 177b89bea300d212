/* Starting the browser. */
#include "page/browser/launch.h"

#include "core/status.h"

#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OTHER_NAME      "nobody"
#define SETPRIV         "/usr/bin/setpriv"
#define SETPRIV_REFUSED 126 /* and above: it could not change the user or run the program */
#define END_WAIT_MS     2000
#define MOST_ARGUMENTS  64
#define ARGUMENT_SIZE   384
#define PASSWD_ROOM     4096
#define DYNAMIC_TEXTS   8

#define DISABLED_FEATURES                                                                          \
    "IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter,"                     \
    "DialMediaRouteProvider,WebRtcHideLocalIpsWithMdns,WebTransport"

/* What every browser is started with. */
static const char *const ARGUMENTS[] = {
    "--headless",
    "--remote-debugging-pipe",
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

enum confinement launch_best(void)
{
    uid_t user;
    gid_t group;
    if (geteuid() != 0) {
        return SANDBOX;
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

/* ---- starting ---- */

/* The argument vector, with room for the texts that are made for it. */
struct command {
    const char *arguments[MOST_ARGUMENTS];
    size_t count;
    char texts[DYNAMIC_TEXTS][ARGUMENT_SIZE];
    size_t text_count;
};

static void add(struct command *command, const char *argument)
{
    command->arguments[command->count++] = argument;
    command->arguments[command->count] = NULL;
}

__attribute__((format(printf, 2, 3))) static void add_text(struct command *command,
                                                           const char *format, ...)
{
    char *text = command->texts[command->text_count++];
    va_list args;
    va_start(args, format);
    vsnprintf(text, ARGUMENT_SIZE, format, args);
    va_end(args);
    add(command, text);
}

static void add_user(struct command *command, uid_t user, gid_t group)
{
    add(command, SETPRIV);
    add_text(command, "--reuid=%u", user);
    add_text(command, "--regid=%u", group);
    add(command, "--clear-groups");
    add(command, "--inh-caps=-all");
    add(command, "--bounding-set=-all");
    add(command, "--");
}

static void add_arguments(struct command *command, const char *program, uint16_t proxy_port,
                          const char *folder, bool sandbox)
{
    _Static_assert(sizeof ARGUMENTS / sizeof *ARGUMENTS + 16 < MOST_ARGUMENTS, "more room");
    add(command, program);
    for (size_t i = 0; i < sizeof ARGUMENTS / sizeof *ARGUMENTS; i++) {
        add(command, ARGUMENTS[i]);
    }
    add_text(command, "--proxy-server=http://127.0.0.1:%u", proxy_port);
    add_text(command, "--user-data-dir=%s", folder);
    if (!sandbox) {
        add(command, "--no-sandbox");
    }
    add(command, "about:blank");
}

static int start(struct launched *launched, const struct command *command)
{
    char home[ARGUMENT_SIZE];
    char scratch[ARGUMENT_SIZE];
    snprintf(home, sizeof home, "HOME=%s", launched->profile.path);
    snprintf(scratch, sizeof scratch, "TMPDIR=%s", launched->profile.path);
    const char *const environment[] = {home, scratch, "PATH=/usr/local/bin:/usr/bin:/bin",
                                       "LANG=C.UTF-8", NULL};
    struct proc_options options = {
        .arguments = command->arguments,
        .environment = environment,
        .directory = "/",
        .keep_input_open = true,
        .on_descriptors_3_4 = true,
        .ends_with_nul = true,
    };
    return child_start(&options, &launched->child, &launched->pipes);
}

int launch_browser(struct launched *launched, const char *program, uint16_t proxy_port,
                   enum confinement confinement)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    struct command command = {.count = 0};
    memset(launched, 0, sizeof *launched);
    if (CONFINEMENTS[confinement].other_user) {
        if (!find_other_user(&user, &group)) {
            return ERR_IO;
        }
        add_user(&command, user, group);
    }
    profile_remove_stale(user);
    int status = profile_make(&launched->profile, user, group);
    if (status != OK) {
        return status;
    }
    add_arguments(&command, program, proxy_port, launched->profile.path,
                  CONFINEMENTS[confinement].sandbox);
    status = start(launched, &command);
    if (status != OK) {
        profile_remove(&launched->profile);
    }
    return status;
}

static void close_pipe(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

void launch_end(struct launched *launched)
{
    struct proc_exit exit;
    if (!launched->child) {
        return;
    }
    child_signal(launched->child, SIGKILL); /* its folder goes too: there is nothing to save */
    close_pipe(&launched->pipes.input);
    close_pipe(&launched->pipes.output);
    close_pipe(&launched->pipes.errors);
    struct pollfd ended = {.fd = child_end_fd(launched->child), .events = POLLIN};
    if (ended.fd >= 0 && !child_has_ended(launched->child, &exit)) {
        poll(&ended, 1, END_WAIT_MS);
    }
    launched->child = child_release(launched->child);
    profile_remove(&launched->profile);
}
