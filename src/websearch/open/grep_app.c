/* grep.app (https://mcp.grep.app): the tool searchGitHub with {query, repo, path, language}, a
 * search for a piece of code as it is written, in public repositories of GitHub. Each text of its
 * answer is a file:
 *
 *   Repository: owner/repo
 *   Path: src/a.c
 *   URL: https://github.com/owner/repo/blob/main/src/a.c
 *   License: MIT
 *
 *   Snippets:
 *   --- Snippet 1 (Line 12) ---
 *   the lines
 */
#include "core/status.h"
#include "tables.h"
#include "websearch/open/sources.h"

#include <string.h>
#include <strings.h>

/* ---- asking ---- */

/* What a word of the query narrows, as it is written on GitHub too. */
static const struct {
    const char *prefix, *argument;
} QUALIFIERS[] = {
    {"repo:", "repo"}, {"path:", "path"}, {"lang:", "language"}, {"language:", "language"}};

/* Sends a word such as "repo:owner/name" as an argument. False when it is a word like others. */
static bool put_qualifier(struct provider_request *request, const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof QUALIFIERS / sizeof *QUALIFIERS; i++) {
        size_t prefix = strlen(QUALIFIERS[i].prefix);
        if (length <= prefix || strncmp(word, QUALIFIERS[i].prefix, prefix) != 0) {
            continue;
        }
        const char *argument = QUALIFIERS[i].argument;
        const char *value = arena_strndup(request->arena, word + prefix, length - prefix);
        if (yyjson_mut_obj_get(request->members, argument)) {
            provider_left_out(request, "query: grep.app takes one %s; %s was dropped", argument,
                              value ? value : "another");
        } else if (strcmp(argument, "language") == 0) {
            const char *known = words_text(&program_languages, word + prefix, length - prefix);
            provider_put_list(request, argument, known ? &known : &value, value ? 1 : 0);
        } else {
            provider_put(request, argument, value);
        }
        return true;
    }
    return false;
}

/* The query without the words that became arguments: all of it, when nothing else is there. */
static const char *put_qualifiers(struct provider_request *request)
{
    struct buf text;
    buf_init(&text, LIMIT_SEARCH_REQUEST_BYTES);
    for (const char *at = request->query->text; *at;) {
        size_t blanks = strspn(at, " ");
        size_t length = strcspn(at + blanks, " ");
        if (!put_qualifier(request, at + blanks, length)) {
            bool first = text.length == 0;
            buf_append(&text, first ? at + blanks : at, first ? length : blanks + length);
        }
        at += blanks + length;
    }
    if (text.length == 0) {
        buf_puts(&text, request->query->text);
    }
    return buf_to_arena(&text, request->arena);
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    tool_call_start(request, "searchGitHub");
    const char *text = put_qualifiers(request);
    provider_put(request, "query", text);
    request->skip = query->count * (query->page - 1); /* it has no pages */
    source_lacks(request, LACKS_TIME | LACKS_LANGUAGE | LACKS_REGION);
    return text ? OK : ERR_NOMEM;
}

/* ---- reading ---- */

static const char SNIPPETS[] = "Snippets:";

/* The rest of the line before the snippets that begins so; NULL: there is none. */
static const char *field(struct arena *arena, const char *text, const char *name)
{
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (strncmp(at, SNIPPETS, sizeof SNIPPETS - 1) == 0) {
            break;
        }
        if (strncmp(at, name, strlen(name)) == 0) {
            at += strlen(name);
            at += strspn(at, " ");
            return arena_strndup(arena, at, strcspn(at, "\r\n"));
        }
    }
    return NULL;
}

/* The lines that were found, each piece below "path:12:" as grep has it. */
static const char *lines_of(struct arena *arena, const char *text, const char *path)
{
    static const char MARK[] = "--- Snippet ", LINE[] = "(Line ";
    const char *begin = strstr(text, "\nSnippets:\n");
    struct buf out;
    buf_init(&out, LIMIT_SEARCH_ANSWER_BYTES);
    for (const char *at = begin ? begin + sizeof SNIPPETS + 1 : ""; *at;) {
        size_t length = strcspn(at, "\n");
        const char *line = strstr(at, LINE);
        bool marked = strncmp(at, MARK, sizeof MARK - 1) == 0 && line && line < at + length;
        if (marked) {
            line += sizeof LINE - 1;
            buf_printf(&out, "%s:%.*s:\n", path, (int)strspn(line, "0123456789"), line);
        } else {
            buf_append(&out, at, length + (at[length] == '\n'));
        }
        at += length + (at[length] == '\n');
    }
    return buf_to_arena(&out, arena);
}

/* Whether it was a file. */
static bool add_file(struct arena *arena, const char *text, struct hits *hits)
{
    const char *repository = field(arena, text, "Repository:");
    const char *path = field(arena, text, "Path:");
    const char *link = field(arena, text, "URL:");
    if (!repository || !link) {
        return false;
    }
    hits_add(hits, &(struct hit){
                       .title = path ? arena_printf(arena, "%s: %s", repository, path) : repository,
                       .link = link,
                       .snippet = lines_of(arena, text, path ? path : repository),
                   });
    return true;
}

/* The tool says in words of its own that nothing was found. */
static bool says_nothing_found(const char *text)
{
    return strncasecmp(text, "No ", 3) == 0;
}

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    (void)query;
    yyjson_val *content = yyjson_obj_get(tool_call_result(arena, body, length), "content");
    if (!yyjson_is_arr(content)) {
        return ERR_INVALID;
    }
    bool understood = yyjson_arr_size(content) == 0;
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(content, index, max, item)
    {
        const char *text = json_string(item, "text");
        if (text && (add_file(arena, text, hits) || says_nothing_found(text))) {
            understood = true;
        }
    }
    return understood ? OK : ERR_INVALID;
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {20, 60000}}, .at_once = 1},
    .contact = CONTACT_WELCOME,
};

const struct provider SOURCE_GREP_APP = {
    .name = "grep-app",
    .title = "grep.app",
    .base_variable = "GREP_APP_BASE_URL",
    TOOL_CALL,
    .open = &TERMS,
    .paths = {[SEARCH_CODE] = "/"},
    .build = build,
    .read = read_answer,
};
