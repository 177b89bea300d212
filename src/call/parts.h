/* The parts of one running program: one of each engine, made and freed by app/. A call carries a
 * pointer to them, so that a tool reaches the engine it asks without any global variable, and two
 * programs can live in one process. What belongs to the process and not to a program stays where it
 * is: the configuration, the log, the secrets to redact, the libraries that are opened.
 *
 * Each room defines its own struct and its own NAME_new() and NAME_free(); nobody else looks inside
 * one. A member is NULL where a program was made without that part. */
#ifndef FORAGE_CALL_PARTS_H
#define FORAGE_CALL_PARTS_H

struct parts {
    struct stocks *stocks;               /* core/stock.h: what callers share */
    struct turns *turns;                 /* call/line.h: where calls wait for their turn */
    struct places *places;               /* config/places.h: where its data is */
    struct guardrails *guardrails;       /* answer/question.h: which questions are refused */
    const struct program_status *status; /* ops/status.h: its tools, and since when it runs */

    struct pool *side_threads;   /* call/side.h: pieces of calls */
    struct resolver *resolver;   /* net/resolve.h: names that are being looked up */
    struct net *net;             /* net/lanes.h: idle connections */
    struct policy *policy;       /* guard/policy.h: which addresses may be reached */
    struct pacer *pacer;         /* guard/pacer.h: turns at sources that set a pace */
    struct source *source;       /* source/source.h: cached pages, lines of hosts */
    struct reader *reader;       /* reader/reader.h: turns at the extractor */
    struct browser *browser;     /* browser/browser.h */
    struct loaders *loaders;     /* loaders/loaders.h: when services may be asked again */
    struct websearch *websearch; /* websearch/websearch.h: which providers rest */
    struct research *research;   /* research/research.h: who runs, who waits */
    struct models *models;       /* model/model.h: which of them rest, what was learned */
    struct upstreams *upstreams; /* guard/breaker.h: who was asked outside, and how it went */
    struct meaning *meaning;     /* meaning/meaning.h: texts as vectors */
    struct memories *memories;   /* memory/memory.h: connections, indexes, the writer */
    struct jobs *jobs;           /* jobs/jobs.h: calls that are kept */

    const struct charges *charges; /* guard/charge.h: the books of what costs money */

    struct experiments *experiments; /* experiment/experiment.h; NULL where none are set */
};

#endif
