/* PDFs: read by Poppler's pdftotext in a child of its own, since a parser of such a format will
 * have faults. The child gets the document through a pipe and answers through one: it has no file
 * of ours, next to no environment, a ceiling on memory, processor time, open files and output,
 * cannot write files, and, where the system lets us make a namespace without being root, no network
 * and no rights of ours. What of that the system can do is found out once, by trying: `unshare` and
 * `prlimit` are parts of util-linux. */
#include "page/loaders/bodies.h"
#include "page/loaders/service.h"
#include "proc/proc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ARGUMENTS 24

/* How confined a child can be, best first. */
enum confinement { NO_NETWORK, CEILINGS, BARE, CONFINEMENT_COUNT };

#define UNSHARE "unshare", "--user", "--net", "--ipc", "--"
#define PRLIMIT                                                                                    \
    "prlimit", "--as=1073741824", "--cpu=30", "--core=0", "--nofile=32", "--fsize=0", "--"

static const char *const LAUNCHERS[CONFINEMENT_COUNT][MOST_ARGUMENTS] = {
    [NO_NETWORK] = {UNSHARE, PRLIMIT, NULL},
    [CEILINGS] = {PRLIMIT, NULL},
    [BARE] = {NULL},
};

_Static_assert(LIMIT_PDF_MEMORY_BYTES == 1073741824, "the launcher spells it out");
_Static_assert(TIME_PDF_MS == 30000, "the launcher spells it out");

static const char *const READ[] = {"pdftotext", "-bbox-layout", "-enc", "UTF-8", "-q", "-", "-",
                                   NULL};
static const char *const PROBE[] = {"pdftotext", "-v", NULL};

/* One more than what was found out; 0: not yet. It describes the machine, not a program, so that
 * every program of the process may know it. */
static _Atomic int known_confinement;

/* Runs one of Poppler's tools, confined. */
static int run_tool(struct call *call, enum confinement confinement, const char *const *tool,
                    const char *input, size_t length, struct proc_result *result)
{
    const char *path = getenv("PATH");
    const char *search = arena_printf(call_arena(call), "PATH=%s", path ? path : "/usr/bin:/bin");
    const char *environment[] = {search, "LC_ALL=C", NULL};
    const char *arguments[2 * MOST_ARGUMENTS];
    size_t count = 0;
    if (!search) {
        return ERR_NOMEM;
    }
    for (const char *const *word = LAUNCHERS[confinement]; *word; word++) {
        arguments[count++] = *word;
    }
    do {
        arguments[count++] = *tool;
    } while (*tool++);
    struct proc_options options = {
        .arguments = arguments,
        .environment = environment,
        .directory = "/",
        .input = input,
        .input_length = length,
        .max_output_bytes = LIMIT_PDF_OUTPUT_BYTES,
        .max_errors_bytes = KIB(16),
    };
    return proc_run(call, &options, result);
}

/* Finds the best confinement that works here. ERR_NOTFOUND when there is no pdftotext. */
static int find_confinement(struct call *call, enum confinement *found)
{
    int known = atomic_load(&known_confinement);
    if (known) {
        *found = (enum confinement)(known - 1);
        return OK;
    }
    for (int level = 0; level < CONFINEMENT_COUNT; level++) {
        struct proc_result result;
        int status = run_tool(call, (enum confinement)level, PROBE, NULL, 0, &result);
        if (service_is_over(status)) {
            return status;
        }
        /* Some versions end with 99 after saying which they are. */
        if (status == OK && (result.exit.code == 0 || result.exit.code == 99)) {
            atomic_store(&known_confinement, level + 1);
            *found = (enum confinement)level;
            return OK;
        }
    }
    return ERR_NOTFOUND;
}

/* Poppler's words for a document that it cannot read. */
static const char *reason(struct arena *arena, const struct proc_result *result)
{
    if (strstr(result->errors, "Incorrect password")) {
        return "The PDF is protected by a password";
    }
    if (result->exit.signal || result->exit.code == 137) {
        return "The PDF took more memory or time than it may";
    }
    size_t length = strcspn(result->errors, "\n");
    length = length > 200 ? 200 : length;
    return length
               ? arena_printf(arena, "The PDF could not be read: %.*s", (int)length, result->errors)
               : "The PDF could not be read";
}

bool pdf_is(const char *bytes, size_t length)
{
    /* Some have other bytes in front. */
    return memmem(bytes, length < KIB(1) ? length : KIB(1), "%PDF-", 5) != NULL;
}

static int fail(const char **why, const char *words)
{
    *why = words;
    return ERR_FAILED;
}

static int write_result(struct call *call, const struct proc_result *result, bool cut,
                        struct document *document, const char **why)
{
    struct pdf_text text;
    int status = pdf_read_lines(call_arena(call), result->output, result->output_length, &text);
    if (status == ERR_INVALID) {
        return fail(why, reason(call_arena(call), result));
    }
    if (status == OK) {
        text.cut = text.cut || cut;
        status = pdf_write(call_arena(call), &text, document);
    }
    if (status == ERR_NOTFOUND) {
        return fail(why, "The PDF holds no text: its pages are probably pictures");
    }
    return status;
}

int pdf_load(struct call *call, const char *bytes, size_t length, struct document *document,
             const char **why)
{
    enum confinement confinement = BARE;
    struct proc_result result;
    int status = find_confinement(call, &confinement);
    if (status == ERR_NOTFOUND) {
        return fail(why,
                    "PDFs are read by pdftotext, which is missing here: install poppler-utils");
    }
    if (status != OK) {
        return status;
    }
    document->loader = "pdf";
    call_progress(call, 0, 0, "reading a PDF");
    status = run_tool(call, confinement, READ, bytes, length, &result);
    if (status != OK && status != ERR_LIMIT) {
        return service_is_over(status) ? status : fail(why, "pdftotext could not be started");
    }
    if (status == OK && result.exit.code != 0) {
        return fail(why, reason(call_arena(call), &result));
    }
    return write_result(call, &result, status == ERR_LIMIT, document, why);
}
