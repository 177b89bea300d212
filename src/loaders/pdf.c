/* PDFs: read by Poppler's pdftotext in a child of its own, since a parser of such a format will
 * have faults. The child gets the document through a pipe and answers through one, and is confined
 * (proc/confine.h): it has no file of anybody's, no network and no rights, next to no environment,
 * and ceilings on memory, processor time and output. Documents take turns, as pages of HTML do, so
 * that what all of these children take together has a ceiling too. */
#include "documents/pdf.h"
#include "call/line.h"
#include "call/parts.h"
#include "core/log.h"
#include "loaders/bodies.h"
#include "loaders/service.h"
#include "proc/proc.h"

#include <stdlib.h>
#include <string.h>

/* Words with their boxes, and the metadata; then runs of text with their fonts and links. Without
 * the second there is no more than plain text in it, but all of that. */
static const char *const WORDS[] = {"pdftotext", "-raw", "-bbox", "-enc", "UTF-8",
                                    "-q",        "-",    "-",     NULL};
static const char *const FONTS[] = {"pdftohtml", "-xml", "-i",      "-zoom",  "3",        "-hidden",
                                    "-nodrm",    "-q",   "-stdout", "fd://0", "document", NULL};

/* Says once that the system cannot do what the documentation promises. */
static void note_confinement(struct call *call, unsigned confinement)
{
    struct loaders *loaders = call_parts(call)->loaders;
    if (confinement != PROC_CONFINED_ALL && !atomic_exchange(&loaders->told_of_pdf, true)) {
        log_warn(NULL, "pdftotext runs %s: this system allows no better (forage doctor)",
                 confinement_words(confinement));
    }
}

static int run_poppler(struct call *call, const char *const *arguments, unsigned seconds,
                       const char *input, size_t length, struct proc_result *result)
{
    static const char *const ENVIRONMENT[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
    struct proc_options options = {
        .arguments = arguments,
        .environment = ENVIRONMENT,
        .directory = "/",
        .input = input,
        .input_length = length,
        .max_output_bytes = LIMIT_PDF_OUTPUT_BYTES,
        .max_errors_bytes = KIB(16),
        .bounds = {.address_bytes = LIMIT_PDF_MEMORY_BYTES,
                   .seconds = seconds,
                   .descriptors = LIMIT_PDF_DESCRIPTORS},
        .confined = true,
    };
    int status = proc_run(call, &options, result);
    if (status == OK) {
        note_confinement(call, result->confinement);
    }
    return status;
}

/* Poppler's words for a document that it cannot read. */
static const char *reason(struct arena *arena, const struct proc_result *result)
{
    if (strstr(result->errors, "Incorrect password")) {
        return "The PDF is protected by a password";
    }
    if (result->exit.signal || strstr(result->errors, "Out of memory")) {
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

static int write_result(struct call *call, const struct proc_result *words,
                        const struct proc_result *fonts, bool cut, bool all,
                        struct document *document, const char **why)
{
    struct pdf_text text;
    struct arena *arena = call_arena(call);
    int status = pdf_read_words(arena, words->output, words->output_length, &text);
    if (status == ERR_INVALID) {
        return fail(why, reason(arena, words));
    }
    if (status == OK && fonts->output_length) {
        status = pdf_read_fonts(arena, fonts->output, fonts->output_length, &text);
    }
    if (status == OK) {
        text.cut = text.cut || cut;
        text.all = all;
        status = pdf_write(arena, &text, document);
    }
    if (status == ERR_NOTFOUND) {
        return fail(why, "The PDF holds no text: its pages are probably pictures");
    }
    return status;
}

/* When it is this document's turn. */
static int load(struct call *call, const char *bytes, size_t length, bool all,
                struct document *document, const char **why)
{
    struct proc_result result;
    struct proc_result fonts = {.output = ""};
    document->loader = "pdf";
    call_progress(call, 0, 0, "reading a PDF");
    int status = run_poppler(call, WORDS, TIME_PDF_MS / 1000, bytes, length, &result);
    if (status == ERR_NOTFOUND) {
        return fail(why,
                    "PDFs are read by pdftotext, which is missing here: install poppler-utils");
    }
    if (status != OK && status != ERR_LIMIT) {
        return service_is_over(status) ? status : fail(why, "pdftotext could not be started");
    }
    if (status == OK && result.exit.code != 0) {
        return fail(why, reason(call_arena(call), &result));
    }
    bool cut = status == ERR_LIMIT;
    status = run_poppler(call, FONTS, TIME_PDF_FONTS_MS / 1000, bytes, length, &fonts);
    if (service_is_over(status)) {
        return status;
    }
    return write_result(call, &result, &fonts, cut, all, document, why);
}

int pdf_load(struct call *call, const char *bytes, size_t length, bool all,
             struct document *document, const char **why)
{
    struct place place = {.call = call};
    call_waits_for(call, "a turn at reading PDFs");
    int status = line_enter(&call_parts(call)->loaders->pdfs, &place, -1);
    call_waits_for(call, NULL);
    if (status == OK) {
        status = load(call, bytes, length, all, document, why);
        line_leave(&place);
    }
    return status;
}
