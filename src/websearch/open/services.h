/* Who gets the words of a search: the services behind open sources, for a person who decides
 * whether they may. */
#ifndef FORAGE_WEBSEARCH_OPEN_SERVICES_H
#define FORAGE_WEBSEARCH_OPEN_SERVICES_H

#include "text/text.h"
#include "websearch/provider.h"

/* Appends `before` and "news: GDELT, Hacker News": the open sources of a list, which NULL ends,
 * that search this type and are asked with these settings. False: there are none, and nothing is
 * appended. */
bool services_put(struct text_out *out, const char *before, const struct provider *const *list,
                  enum search_type type);
/* Appends `before` and the names of those that are not asked, since they insist on FORAGE_CONTACT.
 * False as above. */
bool services_put_unheard(struct text_out *out, const char *before,
                          const struct provider *const *list);

#endif
