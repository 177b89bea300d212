/* The results of experiments as JSON, for REST and the command line: each estimate with its n and
 * its interval, and a verdict with its reason, never a bare mean. */
#ifndef FORAGE_EXPERIMENT_DESCRIBE_H
#define FORAGE_EXPERIMENT_DESCRIBE_H

#include "db/db.h"
#include "experiment/file.h"

/* What an experiment is: name, tool, unit, share, metric, better, sample and arms, without
 * results. In the arena of the document, which shares texts with the experiment. */
yyjson_mut_val *experiment_describe(yyjson_mut_doc *doc, const struct experiment *experiment);
/* The same with what its trials say. A status of the database, or ERR_NOMEM. */
MUST_CHECK int experiment_result(yyjson_mut_doc *doc, struct arena *arena,
                                 const struct experiment *experiment, struct db *db,
                                 yyjson_mut_val **result);
#endif
