/* Hosts and paths, taken apart. */
#include "page/loaders/paths.h"

#include <string.h>
#include <strings.h>

void path_split(const char *text, struct path *path)
{
    memset(path, 0, sizeof *path);
    while (*text == '/') {
        text++;
    }
    while (*text && path->count < PATH_SEGMENTS) {
        size_t length = strcspn(text, "/");
        path->segments[path->count++] = (struct segment){text, length};
        text += length;
        while (*text == '/') {
            text++;
        }
    }
    path->rest = text;
}

bool path_is(const struct path *path, size_t index, const char *word)
{
    return index < path->count && path->segments[index].length == strlen(word) &&
           strncasecmp(path->segments[index].text, word, path->segments[index].length) == 0;
}

bool path_is_number(const struct path *path, size_t index)
{
    if (index >= path->count) {
        return false;
    }
    struct segment segment = path->segments[index];
    return segment.length > 0 && segment.length <= 18 &&
           strspn(segment.text, "0123456789") >= segment.length;
}

const char *path_from(const struct path *path, size_t index)
{
    return index < path->count ? path->segments[index].text : path->rest;
}

const char *host_plain(const char *host)
{
    if (strncmp(host, "www.", 4) == 0) {
        return host + 4;
    }
    return strncmp(host, "m.", 2) == 0 ? host + 2 : host;
}

bool host_below(const char *host, const char *domain, size_t *prefix_length)
{
    size_t host_length = strlen(host);
    size_t length = strlen(domain);
    if (host_length < length || strcmp(host + host_length - length, domain) != 0) {
        return false;
    }
    if (host_length == length) {
        *prefix_length = 0;
        return true;
    }
    *prefix_length = host_length - length - 1;
    return host[*prefix_length] == '.' && *prefix_length > 0;
}

char *segment_text(struct arena *arena, struct segment segment)
{
    return arena_strndup(arena, segment.text, segment.length);
}
