/* Reading a page, choosing a part of it, and telling about both. */
#include "reader/content.h"

#include "call/errors.h"
#include "config/budget.h"
#include "core/limits.h"
#include "text/text.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ROOM_FOR_WORDS 500 /* characters of a result beside the page: where to read on, notes */
#define LEAST_PART     500
#define NAMED_HEADINGS 8 /* in an error */

/* ---- describing ---- */

/* A member of at most `most` code points; nothing when there is no text. */
static void add_clipped(yyjson_mut_doc *doc, struct arena *arena, yyjson_mut_val *object,
                        const char *key, const char *text, size_t most)
{
    if (text && *text) {
        size_t length = strlen(text);
        size_t kept = text_prefix(text, length, most);
        const char *clipped =
            kept < length ? arena_printf(arena, "%.*s...", (int)kept, text) : text;
        json_add_string(doc, object, key, clipped);
    }
}

static void add_metadata(const struct document *document, yyjson_mut_doc *doc, struct arena *arena,
                         yyjson_mut_val *object)
{
    const struct {
        const char *key;
        const char *text;
        size_t most;
    } members[] = {
        {"title", document->title, 300},
        {"author", document->authors, 300},
        {"published", document->published, 64},
        {"modified", document->modified, 64},
        {"site", document->site, 200},
        {"language", document->language, 35},
        {"description", document->description, 600},
        {"kind", document->kind, 64},
        {"loader", document->loader, 64},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        add_clipped(doc, arena, object, members[i].key, members[i].text, members[i].most);
    }
}

void content_add_omitted(const struct omitted *omitted, yyjson_mut_doc *doc, yyjson_mut_val *object)
{
    yyjson_mut_val *list = omitted->count ? yyjson_mut_obj_add_arr(doc, object, "omitted") : NULL;
    for (size_t i = 0; i < omitted->count; i++) {
        const struct omitted_part *part = &omitted->parts[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "what", part->what);
        yyjson_mut_obj_add_uint(doc, item, "chars", part->chars);
        if (part->heading_count) {
            json_add_strings(doc, item, "headings", part->headings, part->heading_count);
        }
    }
}

static const char *cut_words(enum paging_inside inside)
{
    static const char *const WORDS[] = {
        [INSIDE_CODE] = "This part ends inside a code block.",
        [INSIDE_ROW] = "This part ends inside a table row.",
        [INSIDE_LINE] = "This part ends inside a line.",
    };
    return inside == INSIDE_NOTHING ? NULL : WORDS[inside];
}

/* Why may hold what a browser wrote as it died, so any bytes. */
static const char *unrendered_words(const struct document *document, struct arena *arena)
{
    char why[300];
    snprintf(why, sizeof why, "%s",
             document->unrendered ? document->unrendered : "it is not a page of HTML");
    text_repair(why);
    return arena_printf(arena,
                        "The browser could not render the page (%s); this is the page as the "
                        "server sent it.",
                        why);
}

static const char *access_words(const char *access)
{
    static const struct {
        const char *access, *words;
    } WALLS[] = {
        {"login", "What the address names is behind a sign-in, and nobody signs in here; look for "
                  "it elsewhere, or ask for its text."},
        {"paywall", "The whole text is only for those who pay; at most its beginning is here."},
        {"consent", "The site asks about cookies before it shows the page; what is here is that "
                    "question, not the page."},
    };
    for (size_t i = 0; access && i < sizeof WALLS / sizeof *WALLS; i++) {
        if (strcmp(WALLS[i].access, access) == 0) {
            return WALLS[i].words;
        }
    }
    return NULL;
}

static void add_notes(const struct content *content, yyjson_mut_doc *doc, struct arena *arena,
                      yyjson_mut_val *object)
{
    const struct document *document = &content->document;
    yyjson_mut_val *notes = yyjson_mut_arr(doc);
    if (access_words(document->access)) {
        yyjson_mut_arr_add_str(doc, notes, access_words(document->access));
    }
    if (document->rendered) {
        yyjson_mut_arr_add_str(doc, notes,
                               content->render == RENDER_ALWAYS
                                   ? "A browser ran the page's scripts, as asked."
                                   : "A browser ran the page's scripts: without them there is "
                                     "next to nothing on it.");
    }
    if (document->unfinished) {
        yyjson_mut_arr_add_str(doc, notes, document->unfinished);
    }
    if (document->cut) {
        yyjson_mut_arr_add_str(
            doc, notes, "The page is larger than what is read of one; this is its beginning.");
    }
    if (content->render == RENDER_ALWAYS && !document->rendered && !document->failed) {
        yyjson_mut_arr_add_str(doc, notes, unrendered_words(document, arena));
    }
    if (content->headings_left) {
        const char *words =
            arena_printf(arena, "%zu further headings did not fit.", content->headings_left);
        yyjson_mut_arr_add_str(doc, notes, words);
    }
    if (content->nothing) {
        yyjson_mut_arr_add_str(
            doc, notes, "No passage that fits has a word of the focus; this is the page instead.");
    }
    if (content->focus_is_cut) {
        yyjson_mut_arr_add_str(
            doc, notes, "The page is very long; only its beginning was looked at for the focus.");
    }
    const char *cut = content->outline ? NULL : cut_words(content->part.inside);
    if (cut) {
        yyjson_mut_arr_add_str(doc, notes, cut);
    }
    if (yyjson_mut_arr_size(notes)) {
        yyjson_mut_obj_add_val(doc, object, "notes", notes);
    }
}

static yyjson_mut_val *describe_heading(const struct paging_heading *heading, size_t number,
                                        yyjson_mut_doc *doc)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_uint(doc, object, "number", number);
    yyjson_mut_obj_add_int(doc, object, "level", heading->level);
    yyjson_mut_obj_add_str(doc, object, "title", heading->title);
    yyjson_mut_obj_add_uint(doc, object, "start", heading->start);
    yyjson_mut_obj_add_uint(doc, object, "chars", heading->end - heading->start);
    return object;
}

static void add_position(const struct content *content, yyjson_mut_doc *doc, struct arena *arena,
                         yyjson_mut_val *object)
{
    yyjson_mut_obj_add_uint(doc, object, "total_chars", content->total_chars);
    yyjson_mut_obj_add_uint(doc, object, "start", content->part.start);
    yyjson_mut_obj_add_bool(doc, object, "truncated", content->truncated);
    if (content->outline) {
        yyjson_mut_val *outline = yyjson_mut_obj_add_arr(doc, object, "outline");
        for (size_t i = 0; i < content->heading_count; i++) {
            size_t index = content->first_heading + i;
            yyjson_mut_arr_append(outline,
                                  describe_heading(&content->headings[index], index + 1, doc));
        }
        json_add_string(doc, object, "read_on",
                        "Call get_content with the same url and section (a heading or its number) "
                        "or start.");
    } else if (content->passages) {
        json_add_string(doc, object, "read_on",
                        "These are the passages that answer the focus. Call get_content with the "
                        "same url, without focus, and the start of a passage to read on from it.");
    } else if (content->truncated) {
        const char *words = arena_printf(
            arena, "Call get_content again with the same arguments and start=%zu to read on.",
            content->part.end);
        yyjson_mut_obj_add_uint(doc, object, "next_start", content->part.end);
        json_add_string(doc, object, "read_on", words);
    }
}

yyjson_mut_val *content_describe(const struct content *content, yyjson_mut_doc *doc,
                                 struct arena *arena)
{
    const struct document *document = &content->document;
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, object, "success", true);
    json_add_string(doc, object, "url", document->url);
    if (document->failed) {
        yyjson_mut_obj_add_bool(doc, object, "failed", true);
    }
    json_add_string(doc, object, "access", document->access);
    add_metadata(document, doc, arena, object);
    if (content->title) {
        add_clipped(doc, arena, object, "section", content->title, 300);
    }
    add_position(content, doc, arena, object);
    if (document->rendered) {
        yyjson_mut_obj_add_bool(doc, object, "rendered", true);
    }
    if (document->age_s > 0) {
        yyjson_mut_obj_add_int(doc, object, "age_s", document->age_s);
    }
    if (document->encoding && (document->encoding_guessed || strcmp(document->encoding, "utf-8"))) {
        json_add_string(doc, object, "encoding", document->encoding);
    }
    if (document->encoding_guessed) {
        yyjson_mut_obj_add_bool(doc, object, "encoding_guessed", true);
    }
    add_notes(content, doc, arena, object);
    /* Whoever reads on, or a section, knows it already. */
    if (content->part.start == 0 && !content->title) {
        content_add_omitted(&document->omitted, doc, object);
    }
    json_add_string(doc, object, "untrusted", CONTENT_UNTRUSTED);
    yyjson_mut_obj_add_str(doc, object, "page_content", content->text);
    return arena_failed(arena) ? NULL : object;
}

/* ---- how much fits ---- */

/* What is left of the budget for the page, once the rest of the result is written. */
static size_t room_for_text(const struct content_request *request, const struct content *content)
{
    size_t length = 0;
    size_t budget = request->budget;
    struct arena *arena = content->arena;
    struct content empty = *content;
    if (!budget) {
        return SIZE_MAX;
    }
    empty.text = "";
    empty.heading_count = 0;
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = doc ? content_describe(&empty, doc, arena) : NULL;
    const char *text = object ? json_text(arena, object, &length) : NULL;
    size_t rest = (text ? text_count(text, length) : 0) + ROOM_FOR_WORDS;
    return budget > rest + LEAST_PART ? budget - rest : LEAST_PART;
}

/* ---- the part ---- */

static const char *part_text(struct arena *arena, const struct paging_part *part)
{
    size_t before = strlen(part->before);
    size_t after = strlen(part->after);
    char *text = arena_alloc(arena, before + part->length + after + 1);
    if (text) {
        memcpy(text, part->before, before);
        memcpy(text + before, part->text, part->length);
        memcpy(text + before + part->length, part->after, after + 1);
    }
    return text;
}

size_t content_chars(const char *text, bool as_text)
{
    size_t bytes = strlen(text);
    size_t chars = text_count(text, bytes);
    size_t escapes = as_text ? 0 : json_chars(text) - chars;
    return budget_taken(chars + escapes, bytes + escapes);
}

int content_fit(struct arena *arena, const struct paging_request *request, size_t room,
                bool as_text, struct paging_part *part, const char **text)
{
    struct paging_request paging = *request;
    paging.max_chars = paging.max_chars < room ? paging.max_chars : room;
    for (;;) {
        int status = paging_cut(arena, &paging, part);
        *text = status == OK ? part_text(arena, part) : NULL;
        if (!*text) {
            return ERR_NOMEM;
        }
        /* Quotes and line breaks take two characters in JSON, other letters may take more than one
         * of the budget, and words may have been added: the text shrinks until it fits. */
        size_t taken = room == SIZE_MAX ? 0 : content_chars(*text, as_text);
        if (taken <= room || paging.max_chars == 1) {
            return OK;
        }
        size_t chars = text_count(*text, strlen(*text));
        size_t fitting = (size_t)((double)chars * (double)room / (double)taken);
        paging.max_chars = fitting < paging.max_chars ? fitting : paging.max_chars - 1;
        paging.max_chars = paging.max_chars ? paging.max_chars : 1;
    }
}

/* As content_fit(), of the passages that were ranked; `whole` as of focus_write(). */
static int fit_passages(const struct focus *focus, size_t max_chars, size_t room, bool as_text,
                        const char **text, bool *whole)
{
    max_chars = max_chars < room ? max_chars : room;
    for (;;) {
        int status = focus_write(focus, max_chars, text, whole);
        size_t taken = status == OK && room != SIZE_MAX ? content_chars(*text, as_text) : 0;
        if (status != OK || taken <= room) {
            return status;
        }
        size_t fitting = (size_t)((double)max_chars * (double)room / (double)taken);
        max_chars = fitting < max_chars ? fitting : max_chars - 1;
    }
}

static int cut_part(const struct content_request *request, struct content *content,
                    size_t max_chars)
{
    struct paging_request paging = {
        .text = content->document.markdown,
        .length = content->document.length,
        .start = content->start,
        .end = content->end,
        .max_chars = max_chars ? max_chars : SIZE_MAX,
    };
    size_t room = room_for_text(request, content);
    int status = content_fit(content->arena, &paging, room, request->as_text, &content->part,
                             &content->text);
    content->truncated = content->part.end < content->end;
    return status;
}

/* ---- passages ---- */

/* Ranks what was asked for by the question. */
static int rank_passages(struct call *call, const struct content_request *request,
                         struct content *content)
{
    struct focus_request wanted = {
        .arena = content->arena,
        .question = request->focus,
        .text = content->document.markdown,
        .length = content->document.length,
        .start = content->start,
        .end = content->end,
        .meant = focus_meant(1 + request->beside),
    };
    int status = focus_rank(call, &wanted, &content->focus);
    content->focus_is_cut = status == OK && focus_is_cut(content->focus);
    return status;
}

/* What answers the question; the part itself where there is nothing. */
static int write_passages(const struct content_request *request, struct content *content)
{
    bool whole = false;
    size_t most = request->max_chars ? request->max_chars : FOCUS_CHARS;
    content->passages = focus_found(content->focus);
    if (content->passages) {
        size_t room = room_for_text(request, content);
        int status =
            fit_passages(content->focus, most, room, request->as_text, &content->text, &whole);
        content->truncated = !whole;
        if (status != OK || *content->text) {
            return status;
        }
    }
    content->passages = false;
    content->nothing = true;
    return cut_part(request, content, most);
}

/* ---- the outline ---- */

static int make_outline(const struct content_request *request, struct content *content)
{
    size_t count = content->heading_total;
    size_t room = room_for_text(request, content);
    size_t taken = 0;
    int top = 6;
    struct buf list;
    buf_init(&list, SIZE_MAX / 2);
    content->heading_count = content->headings_left = 0;
    while (count && content->headings[count - 1].start >= content->end) {
        count--;
    }
    for (size_t i = content->first_heading; i < count; i++) {
        top = content->headings[i].level < top ? content->headings[i].level : top;
    }
    for (size_t i = content->first_heading; i < count; i++) {
        const struct paging_heading *heading = &content->headings[i];
        /* Some 70 characters around each, and in JSON it is there twice, once in a list. */
        size_t once = content_chars(heading->title, request->as_text) + 70;
        taken += request->as_text ? once : 2 * once;
        if (taken > room) {
            content->headings_left++;
            continue;
        }
        buf_printf(&list, "%*s- %zu. %s (start %zu, %zu characters)\n", 2 * (heading->level - top),
                   "", i + 1, heading->title, heading->start, heading->end - heading->start);
        content->heading_count++;
    }
    if (!content->heading_count) {
        buf_puts(&list, "_This page has no headings._");
    }
    content->text = buf_error(&list) ? NULL : arena_strndup(content->arena, list.data, list.length);
    content->truncated = content->headings_left > 0;
    buf_done(&list);
    return content->text ? OK : ERR_NOMEM;
}

/* ---- what was asked for ---- */

static int refuse_section(struct call *call, const struct content *content, const char *wanted)
{
    size_t count = content->heading_total;
    char quoted[200];
    char names[800];
    struct text_out out;
    text_start(&out, quoted, sizeof quoted);
    text_put_quoted(&out, wanted, strlen(wanted), 40);
    text_start(&out, names, sizeof names);
    for (size_t i = 0; i < count && i < NAMED_HEADINGS; i++) {
        const char *title = content->headings[i].title;
        text_put(&out, i ? ", " : "");
        text_put_quoted(&out, title, strlen(title), 60);
    }
    if (!count) {
        return call_fail(call, CODE_VALIDATION,
                         "section: the page has no headings, so there is no %s; leave section out",
                         quoted);
    }
    return call_fail(call, CODE_VALIDATION,
                     "section: the page has no heading %s; it has %s%s; outline: true shows all",
                     quoted, names, count > NAMED_HEADINGS ? " and more" : "");
}

static int find_section(struct call *call, const struct content_request *request,
                        struct content *content)
{
    const struct paging_heading *section =
        paging_find(content->headings, content->heading_total, request->section);
    if (!section) {
        return refuse_section(call, content, request->section);
    }
    content->title = section->title;
    content->end = section->end;
    content->first_heading = (size_t)(section - content->headings);
    content->start = content->start > section->start ? content->start : section->start;
    return OK;
}

/* Finds what was asked for in a page that could be read. */
static int find_part(struct call *call, const struct content_request *request,
                     struct content *content)
{
    const struct document *document = &content->document;
    int status = OK;
    content->start = request->start;
    content->outline = request->outline;
    if (request->section || request->outline) {
        status = paging_outline(content->arena, document->markdown, document->length,
                                &content->headings, &content->heading_total);
    }
    if (status == OK && request->section) {
        status = find_section(call, request, content);
    }
    if (status == OK && content->start > content->end) {
        return call_fail(call, CODE_VALIDATION,
                         "start: %zu is beyond the end: the %s ends at %zu of %zu characters",
                         content->start, request->section ? "section" : "page", content->end,
                         content->total_chars);
    }
    return status == OK && request->focus ? rank_passages(call, request, content) : status;
}

/* ---- reading ---- */

/* How much of a list that grows is worth having: what this part of the page has room for. */
static size_t chars_to_scroll(const struct content_request *request)
{
    size_t room = request->budget ? request->budget : LIMIT_PAGE_SCROLL_CHARS;
    if (request->section || request->focus || request->outline) {
        return room;
    }
    size_t part = request->max_chars && request->max_chars < room ? request->max_chars : room;
    return request->start + part;
}

static int load(struct call *call, const struct content_request *request, struct document *document)
{
    struct read_options options = {
        .render = request->render, .all = request->all, .scroll_chars = chars_to_scroll(request)};
    if (!request->body) {
        return read_url(call, request->url, &options, document);
    }
    return read_body(call, request->url, request->body, request->body_length, request->all,
                     document);
}

int content_open(struct call *call, const struct content_request *request, struct arena *arena,
                 struct content *content)
{
    *content = (struct content){.arena = arena, .render = request->render};
    struct document *document = &content->document;
    int status = load(call, request, document);
    if (status == OK && arena != call_arena(call)) {
        status = document_copy(document, arena);
    }
    if (status != OK) {
        return status;
    }
    content->total_chars = text_count(document->markdown, document->length);
    content->end = content->total_chars;
    return document->failed ? OK : find_part(call, request, content);
}

int content_cut(const struct content_request *request, struct content *content)
{
    content->part.start = content->start;
    if (content->outline) {
        return make_outline(request, content);
    }
    return content->focus ? write_passages(request, content)
                          : cut_part(request, content, request->max_chars);
}

int content_read(struct call *call, const struct content_request *request, struct content *content)
{
    int status = content_open(call, request, call_arena(call), content);
    return status == OK ? content_cut(request, content) : status;
}

void content_put_note(struct content *content, struct arena *arena, const char *url,
                      const char *note)
{
    size_t length = strlen(note);
    *content = (struct content){
        .arena = arena,
        .document = {.url = url, .markdown = note, .length = length, .failed = true},
        .total_chars = text_count(note, length),
    };
    content->end = content->total_chars;
}
