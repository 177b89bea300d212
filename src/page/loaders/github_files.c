/* GitHub: which URLs are pages that we read, and repositories and releases as Markdown. */
#include "core/limits.h"
#include "core/status.h"
#include "page/loaders/github.h"
#include "page/loaders/plain.h"
#include "text/base64.h"

#include <string.h>

/* First segments that are pages of GitHub itself and no owner. */
static const char *const NO_OWNERS[] = {
    "about",
    "account",
    "apps",
    "blog",
    "codespaces",
    "collections",
    "contact",
    "customer-stories",
    "dashboard",
    "enterprise",
    "events",
    "explore",
    "features",
    "gist",
    "github-copilot",
    "home",
    "issues",
    "join",
    "login",
    "logout",
    "marketplace",
    "mobile",
    "new",
    "newsroom",
    "nonprofit",
    "notifications",
    "organizations",
    "orgs",
    "partners",
    "pricing",
    "pulls",
    "readme",
    "resources",
    "search",
    "security",
    "sessions",
    "settings",
    "signup",
    "site",
    "solutions",
    "sponsors",
    "stars",
    "team",
    "topics",
    "trending",
    "users",
    "watching",
    NULL,
};

static bool is_owner(const struct path *path)
{
    for (const char *const *name = NO_OWNERS; *name; name++) {
        if (path_is(path, 0, *name)) {
            return false;
        }
    }
    return path->count > 0;
}

/* What the segment after the repository says. */
static const struct {
    const char *word;
    enum github_kind kind;
    enum { WANTS_NUMBER, WANTS_PATH, WANTS_REF, WANTS_NOTHING } wants;
} SECTIONS[] = {
    {"issues", GITHUB_ISSUE, WANTS_NUMBER}, {"pull", GITHUB_PULL, WANTS_NUMBER},
    {"pulls", GITHUB_PULL, WANTS_NUMBER},   {"discussions", GITHUB_DISCUSSION, WANTS_NUMBER},
    {"blob", GITHUB_FILE, WANTS_PATH},      {"raw", GITHUB_FILE, WANTS_PATH},
    {"tree", GITHUB_REPOSITORY, WANTS_REF}, {"releases", GITHUB_RELEASES, WANTS_NOTHING},
};

static bool find_releases(const struct path *path, struct github_page *page)
{
    if (path->count == 3) {
        return true;
    }
    page->kind = GITHUB_RELEASE;
    if (path_is(path, 3, "latest")) {
        return path->count == 4;
    }
    /* A tag may hold slashes. */
    if (path_is(path, 3, "tag") && path->count >= 5) {
        page->ref = (struct segment){path->segments[4].text, strlen(path->segments[4].text)};
        return true;
    }
    return false;
}

static bool find_section(const struct path *path, struct github_page *page)
{
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++) {
        if (!path_is(path, 2, SECTIONS[i].word)) {
            continue;
        }
        page->kind = SECTIONS[i].kind;
        switch (SECTIONS[i].wants) {
        case WANTS_NUMBER:
            page->number = path->segments[3];
            return path_is_number(path, 3);
        case WANTS_PATH:
        case WANTS_REF:
            page->ref = path->segments[3];
            page->path = path_from(path, 4);
            return path->count > (SECTIONS[i].wants == WANTS_PATH ? 4U : 3U);
        case WANTS_NOTHING:
            return find_releases(path, page);
        }
    }
    return false;
}

bool github_find(const struct url *url, struct github_page *page)
{
    struct path path;
    memset(page, 0, sizeof *page);
    page->path = "";
    page->ref.text = "";
    path_split(url->path, &path);
    const char *host = host_plain(url->host);
    page->owner = path.segments[0];
    page->repository = path.segments[1];
    if (strcmp(host, "raw.githubusercontent.com") == 0) {
        page->kind = GITHUB_FILE;
        page->ref = path.segments[2];
        page->path = path_from(&path, 3);
        return path.count > 3;
    }
    if (strcmp(host, "github.com") != 0 || !is_owner(&path) || path.count < 2) {
        return false;
    }
    size_t length = page->repository.length;
    if (length > 4 && strncmp(page->repository.text + length - 4, ".git", 4) == 0) {
        page->repository.length -= 4;
    }
    if (path.count == 2) {
        page->kind = GITHUB_REPOSITORY;
        return true;
    }
    return find_section(&path, page);
}

/* ---- releases ---- */

static void write_release(struct buf *out, yyjson_val *release, const char *mark, int levels)
{
    const char *name = json_string(release, "name");
    const char *tag = json_string(release, "tag_name");
    const char *body = json_string(release, "body");
    const char *published = json_string(release, "published_at");
    buf_printf(out, "%s ", mark);
    compose_line(out, name && *name ? name : tag);
    buf_printf(out, "\n\nTag `%s`", tag ? tag : "");
    if (published) {
        buf_printf(out, " · %.10s", published);
    }
    const char *author = json_string(yyjson_obj_get(release, "author"), "login");
    if (author) {
        buf_printf(out, " · by %s", author);
    }
    if (yyjson_get_bool(yyjson_obj_get(release, "prerelease"))) {
        buf_puts(out, " · pre-release");
    }
    buf_puts(out, "\n\n");
    if (body && *body) {
        compose_markdown(out, body, strlen(body), levels, NULL);
        buf_putc(out, '\n');
    }
    yyjson_val *assets = service_array(release, "assets");
    size_t index, max;
    yyjson_val *asset;
    yyjson_arr_foreach(assets, index, max, asset)
    {
        const char *link = json_string(asset, "browser_download_url");
        buf_puts(out, index ? "" : "**Assets**\n\n");
        buf_puts(out, "- [");
        compose_line(out, json_string(asset, "name"));
        buf_printf(out, "](%s) (%lld bytes)\n", link ? link : "",
                   (long long)service_int(asset, "size"));
    }
    buf_puts(out, yyjson_arr_size(assets) ? "\n" : "");
}

int github_write_releases(struct arena *arena, yyjson_val *releases, struct document *document)
{
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = "release";
    if (yyjson_is_arr(releases)) {
        document->title = "Releases";
        buf_puts(&out, "# Releases\n\n");
        if (yyjson_arr_size(releases) == 0) {
            buf_puts(&out, "There are no releases.\n");
        }
        size_t index, max;
        yyjson_val *release;
        yyjson_arr_foreach(releases, index, max, release)
        {
            write_release(&out, release, "##", 2);
        }
        return compose_done(arena, &out, document);
    }
    const char *name = json_string(releases, "name");
    document->title = name && *name ? name : json_string(releases, "tag_name");
    document->authors = json_string(yyjson_obj_get(releases, "author"), "login");
    document->published = json_string(releases, "published_at");
    write_release(&out, releases, "#", 1);
    return compose_done(arena, &out, document);
}

/* ---- repositories ---- */

static void write_topics(struct buf *out, yyjson_val *topics)
{
    size_t index, max;
    yyjson_val *topic;
    yyjson_arr_foreach(topics, index, max, topic)
    {
        buf_printf(out, "%s%s", index ? ", " : " · topics: ", yyjson_get_str(topic));
    }
}

static void write_about(struct buf *out, yyjson_val *repository)
{
    const char *description = json_string(repository, "description");
    const char *language = json_string(repository, "language");
    const char *license = json_string(yyjson_obj_get(repository, "license"), "spdx_id");
    const char *homepage = json_string(repository, "homepage");
    const char *pushed = json_string(repository, "pushed_at");
    buf_puts(out, "Repository **");
    compose_line(out, json_string(repository, "full_name"));
    buf_puts(out, "**");
    if (description && *description) {
        buf_puts(out, ": ");
        compose_line(out, description);
    }
    buf_printf(out, "\n\n%lld stars · %lld forks · %lld open issues",
               (long long)service_int(repository, "stargazers_count"),
               (long long)service_int(repository, "forks_count"),
               (long long)service_int(repository, "open_issues_count"));
    if (language) {
        buf_printf(out, " · %s", language);
    }
    if (license && strcmp(license, "NOASSERTION") != 0) {
        buf_printf(out, " · %s", license);
    }
    if (pushed) {
        buf_printf(out, " · last push %.10s", pushed);
    }
    if (yyjson_get_bool(yyjson_obj_get(repository, "archived"))) {
        buf_puts(out, " · archived");
    }
    write_topics(out, service_array(repository, "topics"));
    if (homepage && *homepage) {
        buf_printf(out, " · <%s>", homepage);
    }
    buf_puts(out, "\n\n");
}

/* The content of a file as the interface gives it: base64 in lines. NULL when it has none. */
static char *file_content(struct arena *arena, yyjson_val *file, size_t *length)
{
    const char *encoded = json_string(file, "content");
    const char *encoding = json_string(file, "encoding");
    if (!encoded || !encoding || strcmp(encoding, "base64") != 0) {
        return NULL;
    }
    char *packed = arena_strdup(arena, encoded);
    size_t packed_length = 0;
    for (const char *at = encoded; packed && *at; at++) {
        if (*at != '\n' && *at != '\r') {
            packed[packed_length++] = *at;
        }
    }
    return packed ? base64_decode(arena, packed, packed_length, length) : NULL;
}

/* "https://host/o/r/blob/main/docs/" for a file docs/README.md of that folder. */
static const char *folder_of(struct arena *arena, const char *address)
{
    const char *slash = address ? strrchr(address, '/') : NULL;
    return slash ? arena_strndup(arena, address, (size_t)(slash - address) + 1) : NULL;
}

int github_write_repository(struct arena *arena, yyjson_val *repository, yyjson_val *readme,
                            struct document *document)
{
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = "repository";
    if (repository) {
        document->title = json_string(repository, "full_name");
        document->description = json_string(repository, "description");
        document->modified = json_string(repository, "pushed_at");
        document->authors = json_string(yyjson_obj_get(repository, "owner"), "login");
        write_about(&out, repository);
    }
    size_t length = 0;
    char *text = file_content(arena, readme, &length);
    const char *name = json_string(readme, "name");
    struct compose_links links = {
        .pages = folder_of(arena, json_string(readme, "html_url")),
        .images = folder_of(arena, json_string(readme, "download_url")),
    };
    if (text && name) {
        document->title = document->title ? document->title : name;
        if (plain_form_of(name).kind == PLAIN_MARKDOWN) {
            compose_markdown(&out, text, length, 0, &links);
        } else {
            buf_append(&out, text, length);
        }
    }
    return compose_done(arena, &out, document);
}
