/* Texts that need no extractor: which form a name or a media type gives them (plain, code, JSON,
 * Markdown), and how each is written. */
#include "html/charset.h"
#include "loaders/bodies.h"
#include "tables.h"

#include <string.h>

/* ---- which form ---- */

/* The form that data/file-forms.txt gives a name or a type; PLAIN_TEXT when it has none. */
static struct plain_form find_form(const char *word, size_t length)
{
    const char *found = words_text(&file_forms, word, length);
    if (!found) {
        return (struct plain_form){PLAIN_TEXT, ""};
    }
    if (strcmp(found, "markdown") == 0) {
        return (struct plain_form){PLAIN_MARKDOWN, ""};
    }
    if (strcmp(found, "indented json") == 0) {
        return (struct plain_form){PLAIN_JSON, "json"};
    }
    return (struct plain_form){PLAIN_CODE, strcmp(found, "-") == 0 ? "" : found};
}

struct plain_form plain_form_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *file = slash ? slash + 1 : name;
    size_t length = strcspn(file, "?#");
    const char *dot = memrchr(file, '.', length);
    struct plain_form form = find_form(file, dot == file ? 0 : length);
    return form.kind == PLAIN_TEXT && dot && dot > file
               ? find_form(dot, length - (size_t)(dot - file))
               : form;
}

/* The form that type and address give a text. */
static struct plain_form form_of_text(const char *type, const char *url)
{
    struct plain_form form = find_form(type ? type : "", type ? strcspn(type, "; \t") : 0);
    return form.kind == PLAIN_TEXT ? plain_form_of(url ? url : "") : form;
}

/* ---- writing ---- */

/* Indented where it parses; as it came where it does not, or where it would grow too large. */
static void write_json(struct arena *arena, struct buf *out, const char *text, size_t length)
{
    struct json_problem problem;
    yyjson_doc *parsed = json_parse(arena, text, length, &problem);
    yyjson_mut_doc *doc = parsed ? json_new(arena) : NULL;
    struct buf pretty;
    buf_init(&pretty, LIMIT_DOCUMENT_BYTES / 2);
    if (doc &&
        json_write_pretty(&pretty, arena, json_copy(doc, yyjson_doc_get_root(parsed))) == OK) {
        compose_fenced(out, "json", pretty.data, pretty.length);
    } else {
        compose_fenced(out, "json", text, length);
    }
    buf_done(&pretty);
}

int plain_write(struct arena *arena, struct plain_form form, const char *text, size_t length,
                const struct compose_links *links, struct document *document)
{
    static const char *const KINDS[] = {
        [PLAIN_TEXT] = "text",
        [PLAIN_MARKDOWN] = "markdown",
        [PLAIN_JSON] = "json",
        [PLAIN_CODE] = "code",
    };
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = KINDS[form.kind];
    switch (form.kind) {
    case PLAIN_TEXT:
        buf_append(&out, text, length);
        break;
    case PLAIN_MARKDOWN:
        compose_markdown(&out, text, length, 0, links);
        break;
    case PLAIN_JSON:
        write_json(arena, &out, text, length);
        break;
    case PLAIN_CODE:
        compose_fenced(&out, form.language, text, length);
        break;
    }
    return compose_done(arena, &out, document);
}

/* ---- by what came ---- */

int plain_load(struct call *call, const struct source_response *response, enum content_kind kind,
               struct document *document)
{
    const struct fetch_response *fetched = &response->fetched;
    struct plain_form form;
    struct charset_text text;
    switch (kind) {
    case CONTENT_JSON:
        form = (struct plain_form){PLAIN_JSON, "json"};
        break;
    case CONTENT_MARKDOWN:
        form = (struct plain_form){PLAIN_MARKDOWN, ""};
        break;
    case CONTENT_XML:
    case CONTENT_FEED:
    case CONTENT_SITEMAP:
        form = (struct plain_form){PLAIN_CODE, "xml"};
        break;
    case CONTENT_TEXT:
        form = form_of_text(fetched->content_type, fetched->url);
        break;
    default:
        return ERR_NOTFOUND;
    }
    struct charset_hints hints = {fetched->content_type,
                                  fetch_header_value(fetched, "content-language"), fetched->url};
    int status =
        charset_decode(call_arena(call), fetched->body, fetched->body_length, &hints, &text);
    if (status != OK) {
        return status;
    }
    document->encoding = text.encoding;
    document->encoding_guessed = text.guessed;
    document->loader = "plain";
    return plain_write(call_arena(call), form, text.bytes, text.length, NULL, document);
}
