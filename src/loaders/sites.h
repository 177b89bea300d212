/* The sites that have something better than their HTML pages. For each: what a URL names there
 * (NAME_find, pure), how the loader asks the site's service (NAME_load, of the table in loaders.c),
 * and how an answer is written as Markdown (pure, for the tests). */
#ifndef FORAGE_LOADERS_SITES_H
#define FORAGE_LOADERS_SITES_H

#include "loaders/loaders.h"
#include "loaders/service.h"

/* ---- StackExchange: questions and answers ---- */

struct stackexchange_post {
    char site[URL_HOST_SIZE]; /* the host, as the interface takes it */
    struct slice id;          /* digits in the URL's path, */
    bool is_answer;           /* of an answer, whose question is not known */
    long long linked;         /* the answer that the URL points at, or 0 */
};

bool stackexchange_find(const struct url *url, struct stackexchange_post *post);
int stackexchange_load(struct call *call, const struct url *url, struct document *document,
                       const char **why);

/* What the interface answered about a question. */
struct stackexchange_thread {
    yyjson_val *question;
    struct service_list answers;
    struct service_list comments; /* of the question and of the answers, each with its post_id */
    long long linked;
    const char *missing; /* words on what could not be read, or NULL */
};

/* The question, the accepted answer, the others by score, each with its comments. Sorts `answers`.
 * OK, ERR_NOMEM. */
int stackexchange_write(struct arena *arena, struct stackexchange_thread *thread,
                        struct document *document);

/* ---- GitHub ---- */

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
    struct slice owner, repository;
    struct slice ref; /* branch, tag or commit; the tag of a release ("" is the latest); else "" */
    struct slice number;
    const char *path; /* of a file or a folder, as the URL writes it; "" */
};

bool github_find(const struct url *url, struct github_page *page);
int github_load(struct call *call, const struct url *url, struct document *document,
                const char **why);

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

/* ---- Wikipedia: articles ---- */

#define WIKIPEDIA_LANGUAGE_SIZE 24

struct wikipedia_page {
    char language[WIKIPEDIA_LANGUAGE_SIZE];
    struct slice title;  /* as the URL writes it, or none and */
    struct slice number; /* the number of the page */
};

bool wikipedia_find(const struct url *url, struct wikipedia_page *page);
int wikipedia_load(struct call *call, const struct url *url, struct document *document,
                   const char **why);
/* The "parse" object of the interface's answer; links are relative to `url`. OK, ERR_NOTFOUND,
 * ERR_NOMEM. */
int wikipedia_write(struct arena *arena, yyjson_val *parse, const char *url,
                    struct document *document);

/* ---- conversations ---- */

bool hackernews_find(const struct url *url, struct slice *id);
int hackernews_load(struct call *call, const struct url *url, struct document *document,
                    const char **why);
/* A story or a comment as the interface gives it. OK or ERR_NOMEM. */
int hackernews_write(struct arena *arena, yyjson_val *item, struct document *document);

struct feed;

bool reddit_find(const struct url *url, struct slice *id);
int reddit_load(struct call *call, const struct url *url, struct document *document,
                const char **why);
/* A thread's feed, whose first item is what it is about; at least that. OK or ERR_NOMEM. */
int reddit_write(struct arena *arena, const struct feed *feed, struct document *document);

/* The following run on many hosts: their loaders ask the host of the page, which may turn out to be
 * something else, and then the page itself is read. */

bool mastodon_find(const struct url *url, struct slice *id);
int mastodon_load(struct call *call, const struct url *url, struct document *document,
                  const char **why);
/* A status, and its context, or NULL. OK or ERR_NOMEM. */
int mastodon_write(struct arena *arena, yyjson_val *post, yyjson_val *context,
                   struct document *document);

struct discourse_topic {
    struct slice id;
    struct slice folder; /* that the forum is in, "/forum"; empty: none */
};

bool discourse_find(const struct url *url, struct discourse_topic *topic);
int discourse_load(struct call *call, const struct url *url, struct document *document,
                   const char **why);
/* A topic and its posts in their order; `missing` (or NULL) says what is not there. OK or
 * ERR_NOMEM. */
int discourse_write(struct arena *arena, yyjson_val *topic, const struct service_list *posts,
                    const char *missing, struct document *document);

struct lemmy_page {
    struct slice id;
    bool is_comment; /* whose post is not known */
};

bool lemmy_find(const struct url *url, struct lemmy_page *page);
int lemmy_load(struct call *call, const struct url *url, struct document *document,
               const char **why);
/* A post_view and the comment_views of it; `missing` as above. OK or ERR_NOMEM. */
int lemmy_write(struct arena *arena, yyjson_val *view, const struct service_list *comments,
                const char *missing, struct document *document);

/* ---- YouTube: videos ---- */

bool youtube_find(const struct url *url, struct slice *id);
int youtube_load(struct call *call, const struct url *url, struct document *document,
                 const char **why);
/* What a video's page tells its player, NULL where it is not there. The page ends with a NUL. */
yyjson_val *youtube_player(struct arena *arena, const char *html, size_t length);
/* The words of a transcript with the moments at which they are said. OK; ERR_NOTFOUND when there
 * are none; ERR_NOMEM. */
int youtube_transcript(struct arena *arena, const char *xml, size_t length, const char **markdown);
/* Where there is no transcript (NULL), `missing` says why. OK or ERR_NOMEM. */
int youtube_write(struct arena *arena, yyjson_val *player, const char *transcript,
                  const char *missing, struct document *document);

/* ---- arXiv: papers ---- */

#define ARXIV_ID_SIZE 64

/* The identifier has its version where the URL has one: "2301.00001v2", "hep-th/9901001". */
bool arxiv_find(const struct url *url, char id[ARXIV_ID_SIZE]);
int arxiv_load(struct call *call, const struct url *url, struct document *document,
               const char **why);

struct arxiv_paper {
    const char *title, *authors, *published, *updated, *summary;
    const char *categories, *doi, *journal, *comment;
};

/* Reads the Atom answer. OK; ERR_NOTFOUND when there is no such paper; ERR_INVALID for what is no
 * such answer; ERR_NOMEM. */
int arxiv_parse(struct arena *arena, const char *text, size_t length, struct arxiv_paper *paper);
/* `full_text` (or NULL) is the paper's text, already Markdown; where it is missing, `missing` says
 * why. OK or ERR_NOMEM. */
int arxiv_write(struct arena *arena, const struct arxiv_paper *paper, const char *id,
                const char *full_text, const char *missing, struct document *document);

#endif
