/* The account of a page: each text that a reader can see is in the Markdown, or is counted here as
 * what it was. It is made after writing: the writer marks the texts that it wrote (NODE_WRITTEN),
 * choosing and writing say of what they dropped what it was (node_drop()), and what stands outside
 * of the content is judged here by its tags, roles and names. */
#ifndef FORAGE_HTML_OMITTED_H
#define FORAGE_HTML_OMITTED_H

#include "html/extract.h"
#include "html/page.h"

/* What an element is by its tag, its role (enum element_role) and the hints of its names;
 * OMIT_OTHER when they say nothing. */
enum omission omission_of(lxb_tag_id_t tag, uint8_t role, uint32_t hints);

/* Takes back what choosing dropped, so that everything visible is written. */
void omitted_restore(struct page *page);

/* Fills `omitted` of the result and, where `texts` is set, the list of all texts. OK or ERR_NOMEM.
 */
MUST_CHECK int omitted_account(const struct page *page, struct arena *arena, bool texts,
                               struct extract_result *result);

#endif
