/* Plain text, code, JSON and Markdown. */
#include "page/loaders/plain.h"

#include "core/limits.h"
#include "core/status.h"
#include "page/html/charset.h"
#include "page/loaders/internal.h"
#include "text/json.h"

#include <string.h>
#include <strings.h>

/* Ends of file names, sorted by what they mean. A name that begins with no dot is the whole of a
 * file's name. */
static const struct {
    const char *end;
    struct plain_form form;
} ENDS[] = {
    {".md", {PLAIN_MARKDOWN, ""}},
    {".markdown", {PLAIN_MARKDOWN, ""}},
    {".mdx", {PLAIN_MARKDOWN, ""}},
    {".mkd", {PLAIN_MARKDOWN, ""}},
    {".json", {PLAIN_JSON, "json"}},
    {".geojson", {PLAIN_JSON, "json"}},
    {".webmanifest", {PLAIN_JSON, "json"}},
    {".ipynb", {PLAIN_JSON, "json"}},
    {".jsonl", {PLAIN_CODE, "json"}},
    {".ndjson", {PLAIN_CODE, "json"}},
    {".json5", {PLAIN_CODE, "json5"}},
    {".asm", {PLAIN_CODE, "asm"}},
    {".awk", {PLAIN_CODE, "awk"}},
    {".bash", {PLAIN_CODE, "bash"}},
    {".bat", {PLAIN_CODE, "batch"}},
    {".c", {PLAIN_CODE, "c"}},
    {".cc", {PLAIN_CODE, "cpp"}},
    {".cfg", {PLAIN_CODE, "ini"}},
    {".clj", {PLAIN_CODE, "clojure"}},
    {".cmake", {PLAIN_CODE, "cmake"}},
    {".conf", {PLAIN_CODE, ""}},
    {".cpp", {PLAIN_CODE, "cpp"}},
    {".cs", {PLAIN_CODE, "csharp"}},
    {".css", {PLAIN_CODE, "css"}},
    {".csv", {PLAIN_CODE, "csv"}},
    {".cu", {PLAIN_CODE, "cuda"}},
    {".cxx", {PLAIN_CODE, "cpp"}},
    {".dart", {PLAIN_CODE, "dart"}},
    {".diff", {PLAIN_CODE, "diff"}},
    {".ex", {PLAIN_CODE, "elixir"}},
    {".exs", {PLAIN_CODE, "elixir"}},
    {".erl", {PLAIN_CODE, "erlang"}},
    {".f90", {PLAIN_CODE, "fortran"}},
    {".fs", {PLAIN_CODE, "fsharp"}},
    {".go", {PLAIN_CODE, "go"}},
    {".gradle", {PLAIN_CODE, "groovy"}},
    {".graphql", {PLAIN_CODE, "graphql"}},
    {".groovy", {PLAIN_CODE, "groovy"}},
    {".h", {PLAIN_CODE, "c"}},
    {".hpp", {PLAIN_CODE, "cpp"}},
    {".hs", {PLAIN_CODE, "haskell"}},
    {".html", {PLAIN_CODE, "html"}},
    {".ini", {PLAIN_CODE, "ini"}},
    {".java", {PLAIN_CODE, "java"}},
    {".jl", {PLAIN_CODE, "julia"}},
    {".js", {PLAIN_CODE, "javascript"}},
    {".jsx", {PLAIN_CODE, "jsx"}},
    {".kt", {PLAIN_CODE, "kotlin"}},
    {".kts", {PLAIN_CODE, "kotlin"}},
    {".less", {PLAIN_CODE, "less"}},
    {".lua", {PLAIN_CODE, "lua"}},
    {".m", {PLAIN_CODE, "objectivec"}},
    {".mjs", {PLAIN_CODE, "javascript"}},
    {".ml", {PLAIN_CODE, "ocaml"}},
    {".nim", {PLAIN_CODE, "nim"}},
    {".nix", {PLAIN_CODE, "nix"}},
    {".patch", {PLAIN_CODE, "diff"}},
    {".php", {PLAIN_CODE, "php"}},
    {".pl", {PLAIN_CODE, "perl"}},
    {".pm", {PLAIN_CODE, "perl"}},
    {".proto", {PLAIN_CODE, "protobuf"}},
    {".ps1", {PLAIN_CODE, "powershell"}},
    {".py", {PLAIN_CODE, "python"}},
    {".pyi", {PLAIN_CODE, "python"}},
    {".r", {PLAIN_CODE, "r"}},
    {".rb", {PLAIN_CODE, "ruby"}},
    {".rs", {PLAIN_CODE, "rust"}},
    {".sass", {PLAIN_CODE, "sass"}},
    {".scala", {PLAIN_CODE, "scala"}},
    {".scss", {PLAIN_CODE, "scss"}},
    {".sh", {PLAIN_CODE, "bash"}},
    {".sql", {PLAIN_CODE, "sql"}},
    {".svelte", {PLAIN_CODE, "svelte"}},
    {".svg", {PLAIN_CODE, "xml"}},
    {".swift", {PLAIN_CODE, "swift"}},
    {".tex", {PLAIN_CODE, "latex"}},
    {".tf", {PLAIN_CODE, "hcl"}},
    {".toml", {PLAIN_CODE, "toml"}},
    {".ts", {PLAIN_CODE, "typescript"}},
    {".tsv", {PLAIN_CODE, "tsv"}},
    {".tsx", {PLAIN_CODE, "tsx"}},
    {".vim", {PLAIN_CODE, "vim"}},
    {".vue", {PLAIN_CODE, "vue"}},
    {".xml", {PLAIN_CODE, "xml"}},
    {".yaml", {PLAIN_CODE, "yaml"}},
    {".yml", {PLAIN_CODE, "yaml"}},
    {".zig", {PLAIN_CODE, "zig"}},
    {".zsh", {PLAIN_CODE, "bash"}},
    {"CMakeLists.txt", {PLAIN_CODE, "cmake"}},
    {"Cargo.lock", {PLAIN_CODE, "toml"}},
    {"Dockerfile", {PLAIN_CODE, "dockerfile"}},
    {"Gemfile", {PLAIN_CODE, "ruby"}},
    {"Makefile", {PLAIN_CODE, "makefile"}},
    {"meson.build", {PLAIN_CODE, "meson"}},
};

/* Media types that name a language. */
static const struct {
    const char *type, *language;
} TYPES[] = {
    {"application/javascript", "javascript"},
    {"application/jsonl", "json"},
    {"application/toml", "toml"},
    {"application/x-javascript", "javascript"},
    {"application/x-ndjson", "json"},
    {"application/x-sh", "bash"},
    {"application/x-yaml", "yaml"},
    {"application/yaml", "yaml"},
    {"text/css", "css"},
    {"text/csv", "csv"},
    {"text/javascript", "javascript"},
    {"text/tab-separated-values", "tsv"},
    {"text/yaml", "yaml"},
};

struct plain_form plain_form_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *file = slash ? slash + 1 : name;
    size_t length = strcspn(file, "?#");
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        size_t end = strlen(ENDS[i].end);
        bool whole = ENDS[i].end[0] != '.';
        if ((whole ? length == end : length > end) &&
            strncasecmp(file + length - end, ENDS[i].end, end) == 0) {
            return ENDS[i].form;
        }
    }
    return (struct plain_form){PLAIN_TEXT, ""};
}

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

/* The form that type and address give a text. */
static struct plain_form form_of_text(const char *type, const char *url)
{
    size_t length = type ? strcspn(type, "; \t") : 0;
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (length == strlen(TYPES[i].type) && strncasecmp(type, TYPES[i].type, length) == 0) {
            return (struct plain_form){PLAIN_CODE, TYPES[i].language};
        }
    }
    return plain_form_of(url ? url : "");
}

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
        form = (struct plain_form){PLAIN_CODE, "xml"};
        break;
    case CONTENT_TEXT:
        form = form_of_text(fetched->content_type, fetched->url);
        break;
    default:
        return ERR_NOTFOUND;
    }
    int status = charset_decode(call_arena(call), fetched->body, fetched->body_length,
                                fetched->content_type, &text);
    if (status != OK) {
        return status;
    }
    document->loader = "plain";
    return plain_write(call_arena(call), form, text.bytes, text.length, NULL, document);
}
