/* Lists the services behind open sources, by what they search. */
#include "websearch/open/services.h"

static const char *const TYPES[SEARCH_TYPES] = {
    [SEARCH_WEB] = "the web: ",   [SEARCH_NEWS] = "news: ", [SEARCH_SCHOLAR] = "papers: ",
    [SEARCH_IMAGES] = "images: ", [SEARCH_CODE] = "code: ",
};

bool services_put(struct text_out *out, const char *before, const struct provider *const *list,
                  enum search_type type)
{
    bool some = false;
    for (; *list; list++) {
        if ((*list)->open && (*list)->paths[type] && provider_configured(*list)) {
            text_put(out, some ? ", " : before);
            text_putf(out, "%s%s", some ? "" : TYPES[type], (*list)->title);
            some = true;
        }
    }
    return some;
}

bool services_put_unheard(struct text_out *out, const char *before,
                          const struct provider *const *list)
{
    bool some = false;
    for (; *list; list++) {
        if ((*list)->open && !provider_configured(*list)) {
            text_put(out, some ? ", " : before);
            text_put(out, (*list)->title);
            some = true;
        }
    }
    return some;
}
