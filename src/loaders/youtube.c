/* YouTube: what a video's page says of it, and its transcript where that can be had without a key.
 * The page holds a description of the video for its player, as JSON; the tracks of words that a
 * player of telephones is offered are those that programs get. Any of it may be refused. */
#include "core/limits.h"
#include "html/compose.h"
#include "html/xml.h"
#include "loaders/sites.h"

#include <stdio.h>
#include <stdlib.h>

#define PLAYER      "ytInitialPlayerResponse"
#define KEY         "\"INNERTUBE_API_KEY\":\""
#define KEY_MOST    64
#define PARAGRAPH_S 30 /* of speech that stand together */
#define ID_LETTERS  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/* ---- whose URL it is ---- */

static bool is_id(struct slice segment)
{
    return segment.length == 11 && strspn(segment.data, ID_LETTERS) >= segment.length;
}

/* The value of "v" in a query. */
static struct slice find_v(const char *query)
{
    while (query && strncmp(query, "v=", 2) != 0) {
        query = strchr(query, '&');
        query = query ? query + 1 : NULL;
    }
    return query ? (struct slice){query + 2, strcspn(query + 2, "&")} : (struct slice){0};
}

bool youtube_find(const struct url *url, struct slice *id)
{
    static const char *const SECTIONS[] = {"shorts", "live", "embed", "v"};
    struct path path;
    size_t length;
    path_split(url->path, &path);
    *id = (struct slice){0};
    if (strcmp(host_plain(url->host), "youtu.be") == 0 && path.count == 1) {
        *id = path.segments[0];
    } else if (host_below(url->host, "youtube.com", &length) ||
               host_below(url->host, "youtube-nocookie.com", &length)) {
        if (path.count == 1 && path_is(&path, 0, "watch")) {
            *id = find_v(url->query);
        }
        for (size_t i = 0; path.count == 2 && i < sizeof SECTIONS / sizeof *SECTIONS; i++) {
            *id = path_is(&path, 0, SECTIONS[i]) ? path.segments[1] : *id;
        }
    }
    return id->data && is_id(*id);
}

/* ---- what came ---- */

/* Where the object that begins at `text` ends; 0: nowhere. */
static size_t object_length(const char *text, size_t length)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && (depth == 0 || --depth == 0)) {
            return i + 1;
        }
    }
    return 0;
}

yyjson_val *youtube_player(struct arena *arena, const char *html, size_t length)
{
    const char *at = memmem(html, length, PLAYER, strlen(PLAYER));
    const char *end = html + length;
    while (at) {
        const char *from = at + strlen(PLAYER);
        from += strspn(from, " \t=");
        if (from < end && *from == '{') {
            size_t size = object_length(from, (size_t)(end - from));
            yyjson_doc *doc = size ? json_parse(arena, from, size, NULL) : NULL;
            return yyjson_doc_get_root(doc);
        }
        at = memmem(from, (size_t)(end - from), PLAYER, strlen(PLAYER));
    }
    return NULL;
}

/* A piece of a transcript: <text start="1.2"> or, in the newer form, <p t="1200">; its words may be
 * split into <s>. */
static bool starts_piece(const struct xml_reader *reader, double *start_s)
{
    char number[32];
    struct slice value;
    bool old = slice_is(reader->name, "text") && xml_attribute(reader, "start", &value);
    bool new = !old &&slice_is(reader->name, "p") && xml_attribute(reader, "t", &value);
    if (!old && !new) {
        return false;
    }
    snprintf(number, sizeof number, "%.*s", (int)(value.length < 31 ? value.length : 31),
             value.data);
    *start_s = strtod(number, NULL) / (old ? 1 : 1000);
    return true;
}

static void write_moment(struct buf *out, double start_s)
{
    long seconds = start_s > 0 && start_s < 1e6 ? (long)start_s : 0;
    buf_printf(out, "%s[", out->length ? "\n\n" : "");
    if (seconds >= 3600) {
        buf_printf(out, "%ld:", seconds / 3600);
    }
    buf_printf(out, "%02ld:%02ld]", seconds / 60 % 60, seconds % 60);
}

int youtube_transcript(struct arena *arena, const char *xml, size_t length, const char **markdown)
{
    struct xml_reader reader;
    struct buf out, words, plain;
    double began_s = -2.0 * PARAGRAPH_S;
    bool whole = true;
    enum xml_event event;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    buf_init(&words, LIMIT_LOADER_BYTES);
    buf_init(&plain, LIMIT_LOADER_BYTES);
    xml_begin(&reader, xml, length);
    while (whole && (event = xml_next(&reader)) != XML_DONE && event != XML_BROKEN) {
        double start_s = 0;
        if (event != XML_START || !starts_piece(&reader, &start_s)) {
            continue;
        }
        buf_clear(&words);
        buf_clear(&plain);
        whole = xml_take(&reader, &words, NULL);
        /* Its words are escaped twice. */
        xml_append(&plain, (struct slice){words.data ? words.data : "", words.length});
        if (!plain.length) {
            continue;
        }
        if (start_s >= began_s + PARAGRAPH_S) {
            write_moment(&out, start_s);
            began_s = start_s;
        }
        buf_putc(&out, ' ');
        compose_line(&out, plain.data);
    }
    buf_puts(&out, out.length ? "\n" : "");
    bool any = out.length > 0;
    *markdown = any ? buf_to_arena(&out, arena) : NULL;
    int status = buf_error(&words) == ERR_NOMEM || (any && !*markdown) ? ERR_NOMEM : OK;
    buf_done(&out);
    buf_done(&words);
    buf_done(&plain);
    return status == OK && !any ? ERR_NOTFOUND : status;
}

/* ---- as Markdown ---- */

static void write_facts(struct buf *out, yyjson_val *details, const struct document *document)
{
    const char *length = json_string(details, "lengthSeconds");
    const char *views = json_string(details, "viewCount");
    long seconds = length ? strtol(length, NULL, 10) : 0;
    buf_puts(out, "- Channel: ");
    compose_line(out, document->authors ? document->authors : "unknown");
    buf_putc(out, '\n');
    if (document->published) {
        buf_printf(out, "- Published: %.10s\n", document->published);
    }
    if (seconds > 0) {
        buf_printf(out, "- Length: %ld:%02ld\n", seconds / 60, seconds % 60);
    }
    if (views) {
        buf_puts(out, "- Views: ");
        compose_line(out, views);
        buf_putc(out, '\n');
    }
    buf_putc(out, '\n');
}

/* A text that is no Markdown: its lines stay lines. */
static void write_plain(struct buf *out, const char *text)
{
    const char *start = text;
    for (; *text; text++) {
        if (strchr("\\`*_#[<", *text)) {
            buf_putc(out, '\\');
        }
        bool breaks = *text == '\n' && text > start && text[-1] != '\n';
        if (breaks && text[1] && text[1] != '\n') {
            buf_puts(out, "  ");
        }
        buf_putc(out, *text);
    }
    buf_puts(out, "\n\n");
}

int youtube_write(struct arena *arena, yyjson_val *player, const char *transcript,
                  const char *missing, struct document *document)
{
    struct buf out;
    yyjson_val *details = yyjson_obj_get(player, "videoDetails");
    yyjson_val *page =
        yyjson_obj_get(yyjson_obj_get(player, "microformat"), "playerMicroformatRenderer");
    const char *description = json_string(details, "shortDescription");
    document->kind = "video";
    document->site = "YouTube";
    document->title = json_string(details, "title");
    document->authors = json_string(details, "author");
    document->published = json_string(page, "publishDate");
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    compose_heading(&out, "#", document->title);
    write_facts(&out, details, document);
    if (description && *description) {
        buf_puts(&out, "## Description\n\n");
        write_plain(&out, description);
    }
    buf_puts(&out, "## Transcript\n\n");
    if (transcript) {
        buf_puts(&out, transcript);
    } else {
        buf_printf(&out, "_The transcript could not be had: %s_\n", missing);
    }
    return compose_done(arena, &out, document);
}

/* ---- asking ---- */

static int ask_page(struct service *service, const char *id, yyjson_val **player, const char **key)
{
    /* Without it, visitors from Europe are asked about cookies first. */
    static const struct fetch_header HEADERS[] = {{"User-Agent", SERVICE_USER_AGENT, false},
                                                  {"Accept-Language", "en", false},
                                                  {"Cookie", "SOCS=CAI", false}};
    struct source_response response;
    service->headers = HEADERS;
    service->header_count = sizeof HEADERS / sizeof *HEADERS;
    service->accept = "text/html";
    int status = service_get(service, &response, "/watch?v=%s&hl=en", id);
    if (status != OK) {
        return status;
    }
    const struct fetch_response *fetched = &response.fetched;
    if (fetched->status != 200) {
        return service_fail(service, "YouTube answered HTTP %d", fetched->status);
    }
    *player = youtube_player(service->arena, fetched->body, fetched->body_length);
    const char *found = memmem(fetched->body, fetched->body_length, KEY, strlen(KEY));
    size_t length = found ? strspn(found + strlen(KEY), ID_LETTERS) : 0;
    *key = length > 0 && length <= KEY_MOST
               ? arena_strndup(service->arena, found + strlen(KEY), length)
               : NULL;
    if (json_string(yyjson_obj_get(*player, "videoDetails"), "title")) {
        return OK;
    }
    const char *reason = json_string(yyjson_obj_get(*player, "playabilityStatus"), "reason");
    bool robot = memmem(fetched->body, fetched->body_length, "g-recaptcha", 11) != NULL;
    return service_fail(service, "YouTube: %s",
                        reason  ? reason
                        : robot ? "it asks whether we are a robot"
                                : "its page has another form than it had");
}

/* The path and query of a track, of those that YouTube itself serves; NULL: it has none. People's
 * words come before a machine's. */
static const char *find_track(struct arena *arena, yyjson_val *player)
{
    size_t index, most;
    yyjson_val *track;
    yyjson_val *best = NULL;
    yyjson_val *list = service_array(
        yyjson_obj_get(yyjson_obj_get(player, "captions"), "playerCaptionsTracklistRenderer"),
        "captionTracks");
    yyjson_arr_foreach(list, index, most, track)
    {
        bool machine = json_string(track, "kind") != NULL;
        bool better = !best || (json_string(best, "kind") && !machine);
        best = better && json_string(track, "baseUrl") ? track : best;
    }
    const char *address = json_string(best, "baseUrl");
    struct url url;
    size_t length;
    const char *problem;
    if (!address || url_parse(arena, address, &url, &problem) != OK ||
        !host_below(url.host, "youtube.com", &length)) {
        return NULL;
    }
    return arena_printf(arena, "%s?%s", url.path, url.query ? url.query : "");
}

static int ask_track(struct service *service, const char *path, const char **transcript)
{
    struct source_response response;
    service->accept = "text/xml";
    int status = service_get(service, &response, "%s", path);
    if (status != OK) {
        return status;
    }
    if (response.fetched.status != 200) {
        return service_fail(service, "YouTube answered HTTP %d", response.fetched.status);
    }
    if (!response.fetched.body_length) {
        return service_fail(service, "YouTube gives it to its own players only");
    }
    status = youtube_transcript(service->arena, response.fetched.body, response.fetched.body_length,
                                transcript);
    return status == ERR_NOTFOUND ? service_fail(service, "YouTube gave no words") : status;
}

/* The tracks as the player of a telephone is told of them: those of the page want a token. */
static int ask_transcript(struct service *service, const char *id, const char *key,
                          const char **transcript)
{
    struct source_response response;
    yyjson_val *player = NULL;
    const char *body = arena_printf(
        service->arena,
        "{\"context\":{\"client\":{\"clientName\":\"ANDROID\",\"clientVersion\":\"20.10.38\"}},"
        "\"videoId\":\"%s\"}",
        id);
    const char *path = key ? arena_printf(service->arena, "/youtubei/v1/player?key=%s", key)
                           : "/youtubei/v1/player";
    service->accept = NULL;
    int status = path ? service_post(service, &response, path, body) : ERR_NOMEM;
    status = status == OK ? service_object(service, &response, &player) : status;
    if (status != OK) {
        return status == ERR_NOTFOUND ? service_fail(service, "YouTube does not tell of any")
                                      : status;
    }
    const char *track = find_track(service->arena, player);
    if (!track) {
        const char *reason = json_string(yyjson_obj_get(player, "playabilityStatus"), "reason");
        return service_fail(service, "%s", reason ? reason : "the video has none");
    }
    return ask_track(service, track, transcript);
}

int youtube_load(struct call *call, const struct url *url, struct document *document,
                 const char **why)
{
    struct slice found;
    struct service service;
    yyjson_val *player = NULL;
    const char *key = NULL;
    const char *transcript = NULL;
    const char *missing = NULL;
    if (!youtube_find(url, &found)) {
        return ERR_NOTFOUND;
    }
    const char *id = slice_copy(call_arena(call), found);
    int status =
        id ? service_open(&service, call, "YouTube", "YOUTUBE_BASE_URL", NULL, why) : ERR_NOMEM;
    if (status == OK) {
        call_progress(call, 0, 0, "asking YouTube");
        status = ask_page(&service, id, &player, &key);
    }
    if (status != OK) {
        return status;
    }
    service.why = &missing;
    status = ask_transcript(&service, id, key, &transcript);
    if (service_is_over(status)) {
        return status;
    }
    document->url = url->text;
    return youtube_write(service.arena, player, status == OK ? transcript : NULL,
                         missing ? missing : "YouTube does not give it", document);
}
