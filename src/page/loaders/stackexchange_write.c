/* StackExchange: which URLs are posts, and a thread as Markdown. */
#include "core/limits.h"
#include "core/status.h"
#include "page/html/extract.h"
#include "page/loaders/compose.h"
#include "page/loaders/paths.h"
#include "page/loaders/service.h"
#include "page/loaders/stackexchange.h"

#include <stdlib.h>
#include <string.h>

/* ---- whose URL it is ---- */

/* The sites with a domain of their own. Below it there may be a meta site, and where `languages`
 * says so, sites in other languages, which have meta sites too. */
static const struct {
    const char *domain;
    bool languages;
} SITES[] = {
    {"stackoverflow.com", true}, {"superuser.com", false},    {"serverfault.com", false},
    {"askubuntu.com", false},    {"mathoverflow.net", false}, {"stackapps.com", false},
};

static bool one_of(const char *text, size_t length, const char *const *words)
{
    for (; *words; words++) {
        if (strlen(*words) == length && strncmp(text, *words, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Below stackexchange.com: "cooking", "meta", "cooking.meta", or "meta.cooking" as it was once
 * written. */
static bool is_network_site(const char *host, size_t length)
{
    static const char *const NO_SITES[] = {"api",        "area51",    "blog",       "careers",
                                           "chat",       "data",      "dev",        "openid",
                                           "privileges", "elections", "winterbash", NULL};
    const char *dot = memchr(host, '.', length);
    if (!dot) {
        return !one_of(host, length, NO_SITES);
    }
    size_t first = (size_t)(dot - host);
    size_t rest = length - first - 1;
    bool meta_first = first == 4 && memcmp(host, "meta", 4) == 0;
    bool meta_last = rest == 4 && memcmp(dot + 1, "meta", 4) == 0;
    return meta_first != meta_last && !memchr(dot + 1, '.', rest);
}

static bool find_site(const char *host, char site[URL_HOST_SIZE])
{
    static const char *const META[] = {"meta", NULL};
    static const char *const LANGUAGES[] = {"es",      "ja",      "pt",      "ru", "es.meta",
                                            "ja.meta", "pt.meta", "ru.meta", NULL};
    size_t length;
    memcpy(site, host, strlen(host) + 1);
    if (host_below(host, "stackexchange.com", &length)) {
        bool found = length > 0 && is_network_site(host, length);
        if (found && strncmp(host, "meta.", 5) == 0 && length > 4) {
            /* meta.cooking has become cooking.meta. */
            size_t name = length - 5;
            memcpy(site, host + 5, name);
            memcpy(site + name, ".meta", 5);
        }
        return found;
    }
    for (size_t i = 0; i < sizeof SITES / sizeof *SITES; i++) {
        if (host_below(host, SITES[i].domain, &length)) {
            return length == 0 || one_of(host, length, META) ||
                   (SITES[i].languages && one_of(host, length, LANGUAGES));
        }
    }
    return false;
}

bool stackexchange_find(const struct url *url, struct stackexchange_post *post)
{
    struct path path;
    memset(post, 0, sizeof *post);
    path_split(url->path, &path);
    bool question = path_is(&path, 0, "questions") || path_is(&path, 0, "q");
    post->is_answer = path_is(&path, 0, "a");
    if ((!question && !post->is_answer) || !path_is_number(&path, 1) ||
        !find_site(host_plain(url->host), post->site)) {
        return false;
    }
    post->id = path.segments[1].text;
    post->id_length = path.segments[1].length;
    if (post->is_answer) {
        post->linked = strtoll(post->id, NULL, 10);
    } else if (path_is(&path, 0, "questions") && path_is_number(&path, 3)) {
        post->linked = strtoll(path.segments[3].text, NULL, 10);
    } else if (url->fragment && url->fragment[0] >= '1' && url->fragment[0] <= '9') {
        post->linked = strtoll(url->fragment, NULL, 10);
    }
    return true;
}

/* ---- a thread as Markdown ---- */

static int64_t answer_id(yyjson_val *answer)
{
    return service_int(answer, "answer_id");
}

/* The accepted answer, then by score, then the older one. */
static int compare_answers(const void *left, const void *right)
{
    yyjson_val *const *a = left;
    yyjson_val *const *b = right;
    int accepted = (int)yyjson_get_bool(yyjson_obj_get(*b, "is_accepted")) -
                   (int)yyjson_get_bool(yyjson_obj_get(*a, "is_accepted"));
    if (accepted) {
        return accepted;
    }
    int64_t score_a = service_int(*a, "score");
    int64_t score_b = service_int(*b, "score");
    if (score_a != score_b) {
        return score_a < score_b ? 1 : -1;
    }
    return answer_id(*a) < answer_id(*b) ? -1 : answer_id(*a) > answer_id(*b);
}

static const char *author_of(struct arena *arena, yyjson_val *post)
{
    const char *name = json_string(yyjson_obj_get(post, "owner"), "display_name");
    return name ? compose_unescaped(arena, name) : "an unknown user";
}

/* "score 12 · 2019-03-01 · edited 2020-01-02" */
static void write_facts(struct buf *out, yyjson_val *post)
{
    char date[COMPOSE_DATE_SIZE];
    buf_printf(out, "Score %lld", (long long)service_int(post, "score"));
    if (service_int(post, "creation_date")) {
        buf_printf(out, " · %s", compose_date(date, service_int(post, "creation_date")));
    }
    if (service_int(post, "last_edit_date")) {
        buf_printf(out, " · edited %s", compose_date(date, service_int(post, "last_edit_date")));
    }
}

/* The HTML of a post, its headings below ours. */
static int write_body(struct arena *arena, struct buf *out, yyjson_val *post, const char *url,
                      int levels)
{
    const char *html = json_string(post, "body");
    struct buf markdown;
    buf_init(&markdown, LIMIT_DOCUMENT_BYTES);
    int status = html ? extract_fragment(arena, html, strlen(html), url, &markdown) : OK;
    if (status == OK && markdown.data) {
        compose_markdown(out, markdown.data, markdown.length, levels, NULL);
        buf_putc(out, '\n');
    }
    buf_done(&markdown);
    return status == ERR_NOMEM ? status : OK;
}

static int write_comment(struct arena *arena, struct buf *out, yyjson_val *comment, const char *url)
{
    const char *html = json_string(comment, "body");
    char date[COMPOSE_DATE_SIZE];
    buf_puts(out, "- **");
    compose_line(out, author_of(arena, comment));
    buf_printf(out, "** (%s", compose_date(date, service_int(comment, "creation_date")));
    if (service_int(comment, "score") > 0) {
        buf_printf(out, ", score %lld", (long long)service_int(comment, "score"));
    }
    buf_puts(out, "): ");
    struct buf text;
    buf_init(&text, LIMIT_DOCUMENT_BYTES);
    int status = html ? extract_fragment(arena, html, strlen(html), url, &text) : OK;
    compose_item(out, text.data ? text.data : "", text.length);
    buf_done(&text);
    return status == ERR_NOMEM ? status : OK;
}

static int write_comments(struct arena *arena, struct buf *out,
                          const struct stackexchange_thread *thread, int64_t post, const char *url)
{
    bool any = false;
    int status = OK;
    for (size_t i = 0; i < thread->comment_count && status == OK; i++) {
        if (service_int(thread->comments[i], "post_id") == post) {
            if (!any) {
                buf_puts(out, "**Comments**\n\n");
            }
            any = true;
            status = write_comment(arena, out, thread->comments[i], url);
        }
    }
    if (any) {
        buf_putc(out, '\n');
    }
    return status;
}

static int write_question(struct arena *arena, struct buf *out,
                          const struct stackexchange_thread *thread, struct document *document)
{
    yyjson_val *question = thread->question;
    buf_puts(out, "# ");
    compose_line(out, document->title);
    buf_puts(out, "\n\n");
    write_facts(out, question);
    buf_puts(out, " · asked by ");
    compose_line(out, document->authors);
    size_t index, max;
    yyjson_val *tag;
    yyjson_val *tags = service_array(question, "tags");
    yyjson_arr_foreach(tags, index, max, tag)
    {
        buf_printf(out, "%s%s", index ? ", " : " · tags: ", yyjson_get_str(tag));
    }
    const char *closed = json_string(question, "closed_reason");
    if (closed) {
        buf_puts(out, " · closed: ");
        compose_line(out, compose_unescaped(arena, closed));
    }
    buf_puts(out, "\n\n");
    int status = write_body(arena, out, question, document->url, 1);
    return status == OK ? write_comments(arena, out, thread, service_int(question, "question_id"),
                                         document->url)
                        : status;
}

static int write_answer(struct arena *arena, struct buf *out,
                        const struct stackexchange_thread *thread, yyjson_val *answer,
                        const char *url)
{
    bool accepted = yyjson_get_bool(yyjson_obj_get(answer, "is_accepted"));
    buf_puts(out, accepted ? "## Accepted answer by " : "## Answer by ");
    compose_line(out, author_of(arena, answer));
    if (thread->linked && answer_id(answer) == thread->linked) {
        buf_puts(out, " (the one that the address points at)");
    }
    buf_puts(out, "\n\n");
    write_facts(out, answer);
    buf_puts(out, "\n\n");
    int status = write_body(arena, out, answer, url, 2);
    return status == OK ? write_comments(arena, out, thread, answer_id(answer), url) : status;
}

int stackexchange_write(struct arena *arena, struct stackexchange_thread *thread,
                        struct document *document)
{
    char date[COMPOSE_DATE_SIZE];
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = "question";
    document->title = compose_unescaped(arena, json_string(thread->question, "title"));
    document->authors = author_of(arena, thread->question);
    compose_date(date, service_int(thread->question, "creation_date"));
    document->published = arena_strdup(arena, date);
    const char *link = json_string(thread->question, "link");
    if (link) {
        document->url = arena_strdup(arena, link);
    }
    int status = arena_failed(arena) ? ERR_NOMEM : write_question(arena, &out, thread, document);
    if (thread->answer_count > 1) {
        qsort(thread->answers, thread->answer_count, sizeof *thread->answers, compare_answers);
    }
    for (size_t i = 0; i < thread->answer_count && status == OK; i++) {
        status = write_answer(arena, &out, thread, thread->answers[i], document->url);
    }
    if (thread->missing) {
        buf_printf(&out, "_%s_\n", thread->missing);
    }
    if (status != OK) {
        buf_done(&out);
        return status;
    }
    return compose_done(arena, &out, document);
}
