/* Pages of GitHub: what a URL names there, and how a thread, a release or a repository is written.
 * github.c asks the service. */
#ifndef FORAGE_PAGE_LOADERS_GITHUB_H
#define FORAGE_PAGE_LOADERS_GITHUB_H

#include "page/document.h"
#include "page/loaders/compose.h"
#include "page/loaders/paths.h"
#include "page/loaders/service.h"
#include "text/json.h"
#include "text/url.h"

enum github_kind {
    GITHUB_REPOSITORY, /* its README, of a folder or a branch too */
    GITHUB_ISSUE,
    GITHUB_PULL,
    GITHUB_DISCUSSION,
    GITHUB_FILE,
    GITHUB_RELEASES,
    GITHUB_RELEASE, /* the one of a tag, or the latest */
};

struct github_page {
    enum github_kind kind;
    struct segment owner, repository;
    struct segment
        ref; /* branch, tag or commit; the tag of a release ("" is the latest); else "" */
    struct segment number;
    const char *path; /* of a file or a folder, as the URL writes it; "" */
};

/* Whether the URL is one of these pages, and which. Pure. */
bool github_find(const struct url *url, struct github_page *page);

/* What the interface answered about an issue or a pull request. */
struct github_thread {
    yyjson_val *subject;                 /* the issue or the pull request itself */
    bool is_pull;                        /* then there are also: */
    struct service_list comments;        /* on the thread */
    struct service_list reviews;         /* the words that came with one */
    struct service_list review_comments; /* on lines of the code */
    const char *missing;                 /* words on what could not be read, or NULL */
};

/* Each sets the document's Markdown and metadata. OK or ERR_NOMEM. */
int github_write_thread(struct arena *arena, const struct github_thread *thread,
                        struct document *document);
/* `discussion` is the object of the GraphQL interface; `comments` are all its comments. */
int github_write_discussion(struct arena *arena, yyjson_val *discussion,
                            const struct service_list *comments, const char *missing,
                            struct document *document);
/* One release or an array of them. */
int github_write_releases(struct arena *arena, yyjson_val *releases, struct document *document);
/* `repository` may be NULL; `readme` is the answer with its content, or NULL. */
int github_write_repository(struct arena *arena, yyjson_val *repository, yyjson_val *readme,
                            struct document *document);

#endif
