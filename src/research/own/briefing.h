/* What a model is told at the head of each request: the question, the plan, the notes so far, the
 * sources that are known, and what is left. It stands for everything that was folded away. */
#ifndef FORAGE_RESEARCH_OWN_BRIEFING_H
#define FORAGE_RESEARCH_OWN_BRIEFING_H

#include "research/own/work.h"

/* `last`: this turn is the last one. NULL without memory. */
const char *briefing_write(struct own *own, bool last);
/* The question between tags, the date and the depth. */
void briefing_put_question(const struct own *own, struct buf *out);
/* Where pages that were read contradict each other. */
void briefing_put_conflicts(const struct own *own, struct buf *out);

#endif
