/* A document that is a ZIP archive of parts, as all of them are: finding parts, what they refer to,
 * and what the document says of itself. Everything lives in the package's arena. */
#ifndef FORAGE_DOCUMENTS_PACKAGE_H
#define FORAGE_DOCUMENTS_PACKAGE_H

#include "documents/zip.h"
#include "html/document.h"
#include "html/xml.h"

struct package {
    struct arena *arena; /* of the reading, not of the call */
    struct zip zip;
    const char *why; /* of ERR_FAILED, in words */
    bool no_memory;  /* for an attribute: what came of it does not count */
    bool cut;        /* a ceiling was reached, or a part is broken: this is the beginning */
};

/* A part as valid UTF-8. OK; ERR_NOTFOUND when there is none of that name; ERR_FAILED, ERR_NOMEM.
 */
MUST_CHECK int package_part(struct package *package, const char *name, struct slice *text);
/* Begins to read a part as XML. As package_part(). */
MUST_CHECK int package_xml(struct package *package, const char *name, struct xml_reader *xml);

/* What a part refers to: other parts, and the world outside. */
struct relation {
    const char *id, *type; /* the last word of the type's address */
    const char *target;    /* the name of a part, or an address */
    bool external;
    bool read; /* for whoever reads each once */
};

struct relations {
    struct relation *items;
    size_t count;
};

/* None where there is no such list. OK, ERR_FAILED, ERR_NOMEM. */
MUST_CHECK int package_relations(struct package *package, const char *part,
                                 struct relations *relations);
/* By its id, or by its type where `id` is NULL; NULL where there is none. */
const struct relation *relation_find(const struct relations *relations, const char *id,
                                     const char *type);

/* The name of the part that a reference in `part` means. NULL without memory. */
const char *package_resolve(struct package *package, const char *part, const char *reference);

/* Title, authors and dates, from the part that has them, if there is one. OK, ERR_FAILED,
 * ERR_NOMEM. */
MUST_CHECK int package_properties(struct package *package, const char *part,
                                  struct document *document);

/* The value of an attribute, its entities resolved; NULL where there is none. */
const char *package_attribute(struct package *package, const struct xml_reader *xml,
                              const char *name);
/* A number that an attribute holds, within bounds; `otherwise` where there is none. */
long package_number(const struct xml_reader *xml, const char *name, long least, long most,
                    long otherwise);

#endif
