/* What a page says about itself: title, authors, dates, site, language. JSON-LD is believed before
 * OpenGraph, that before microdata, and that before what a byline reads like. */
#ifndef FORAGE_HTML_METADATA_H
#define FORAGE_HTML_METADATA_H

#include "html/page.h"

/* What <meta> elements say, under the names of data/page-metadata.txt. */
enum meta_fact {
    META_TITLE,
    META_SITE,
    META_AUTHOR,
    META_PUBLISHED,
    META_MODIFIED,
    META_DESCRIPTION,
    META_IMAGE,
    META_TIER,
    META_FACTS,
};

/* Fills page->metadata. page->json_ld must have been read. */
void metadata_read(struct page *page);

#endif
