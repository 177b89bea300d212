/* The ceilings that somebody outside can push against (a client, a page, an upstream, a file) and
 * the times that forage waits for them, so that a reader sees at a glance what can grow and how
 * far. A ceiling that only its own file has to know, such as the room for a message in an error,
 * stands in that file as MOST_... A limit that an operator may change is a variable
 * (data/variables.txt) whose default is named here. */
#ifndef FORAGE_CORE_LIMITS_H
#define FORAGE_CORE_LIMITS_H

#include <stdint.h>

#define KIB(n) ((size_t)(n)*1024)
#define MIB(n) (KIB(n) * 1024)

/* Messages from clients */
#define LIMIT_MESSAGE_BYTES       MIB(4) /* one JSON-RPC message, on either transport */
#define LIMIT_JSON_DEPTH          64     /* nesting of objects and arrays */
#define LIMIT_BATCH_MESSAGES      64     /* messages in a legacy batch */
#define LIMIT_REQUEST_ID_CHARS    256    /* a JSON-RPC id that is a string */
#define LIMIT_SESSION_LABEL_CHARS 128    /* an Mcp-Session-Id */

/* HTTP */
#define LIMIT_HTTP_HEAD_BYTES    KIB(32)
#define LIMIT_HTTP_HEADERS       64
#define LIMIT_HTTP_TARGET_BYTES  KIB(8)
#define LIMIT_HTTP_CONNECTIONS   4096
#define LIMIT_HTTP_UPLOAD_BYTES  MIB(64)   /* a body of many lines, where a path takes one */
#define LIMIT_HTTP_OUT_BYTES     MIB(8)    /* unsent bytes of one connection */
#define LIMIT_HTTP_BODIES_BYTES  MIB(64)   /* of requests in memory, over all connections */
#define LIMIT_HTTP_ANSWERS_BYTES MIB(128)  /* that clients have not taken, over all connections */
#define LIMIT_HTTP_SOCKET_BYTES  KIB(128)  /* of them, that the system keeps for one connection */
#define LIMIT_UPLOADS_BYTES      MIB(1024) /* of large bodies in files while they are checked */
#define TIME_HTTP_HEAD_MS        10000     /* first byte of a request to the end of its head */
#define TIME_HTTP_BODY_MS        30000     /* end of the head to the end of the body */
#define TIME_HTTP_IDLE_MS        120000    /* between requests */
#define TIME_HTTP_WRITE_MS       30000     /* a client that takes no byte of its answer */
#define TIME_SSE_OPEN_MS         5000      /* an answer that takes longer becomes a stream */
#define TIME_SSE_COMMENT_MS      15000     /* a sign of life on a quiet stream */

/* Calls */
#define LIMIT_CALL_ARENA_BYTES MIB(64)
#define LIMIT_SIDE_THREADS     1024 /* that do parts of calls, over all calls */
#define LIMIT_ERROR_CHARS      2000
#define LIMIT_PENDING_ASKS     256 /* questions to clients waiting for an answer */
#define LIMIT_LISTENERS        256 /* open subscriptions/listen streams */
#define LIMIT_KEPT_LISTS       32  /* whose bytes are kept: 1 MB if all were lists of tools */
#define TIME_CALL_DEADLINE_MS  50000
#define TIME_PROGRESS_MS       3000 /* without a word to the client of a call that waits */
#define TIME_POOL_IDLE_MS      5000 /* that a thread waits for a call before it leaves */
#define TIME_STUCK_MS          1000 /* that a call waits for a store before the status tells */
#define TIME_SHUTDOWN_GRACE_MS 5000
#define TIME_SECOND_SIGNAL_MS  1000  /* until another ctrl-C ends a command as it is */
#define TIME_DOCTOR_MS         12000 /* all checks of `forage doctor`, side by side */
#define TIME_DOCTOR_CHECK_MS   10000 /* one of them */
#define TIME_DOCTOR_RESERVE_MS 1000
#define TIME_HEALTH_MS         3000              /* until /health has to answer */
#define TIME_SHUTDOWN_SEND_MS  4000              /* in which the last answers must move on */
#define TIME_SESSION_MS        INT64_C(43200000) /* that somebody stays signed in: 12 hours */
#define LIMIT_WATCHERS         64                /* streams of events at once */
#define LIMIT_SESSIONS_ENDED   256               /* of one caller, until they expire */
#define TIME_SHUTDOWN_CLOSE_MS 20000             /* for files to be written and closed at the end */
#define TIME_SHUTDOWN_LAST_MS  10000 /* for the last answers to reach clients that read slowly */

/* Calls that are kept */
#define LIMIT_JOBS              256     /* that run at once, over all callers */
#define LIMIT_JOBS_KEPT         1000    /* of one caller that are over */
#define LIMIT_JOBS_UNKEPT       32      /* that are over and nowhere but in memory */
#define LIMIT_JOB_RUNS          20      /* so often one is begun, should it end its process */
#define LIMIT_JOB_STEP_BYTES    MIB(24) /* of a journal */
#define LIMIT_JOB_STATE_BYTES   KIB(256)
#define LIMIT_JOB_CONTEXT_BYTES MIB(12)
#define TIME_JOB_STORE_MS       10000 /* for one transaction on them */
#define TIME_JOB_RETRY_MS       200   /* after one that failed */
#define TIME_JOB_TICK_MS        1000  /* between two looks at those that run here */
#define TIME_JOB_POLL_MS        500   /* and at one that runs elsewhere */
#define TIME_JOB_TIDY_MS        600000

/* What a call uses */
#define LIMIT_USAGE_COUNT INT64_C(1000000000) /* tokens or requests of one call */

/* Callers */
#define LIMIT_TOKENS             256
#define LIMIT_TOKEN_CHARS        512
#define LIMIT_CALLER_NAME_CHARS  64
#define LIMIT_BREAKERS           64   /* upstreams that circuit breakers know */
#define LIMIT_WINDOW_KEYS        4096 /* callers x tools that the rate limiter remembers */
#define LIMIT_WINDOW_RULES       64   /* of FORAGE_LIMITS and FORAGE_LIMITS_TOTAL together */
#define LIMIT_WINDOW_RULE_CLAIMS 8    /* of them that hold for one call, */
#define LIMIT_WINDOW_CLAIMS      9    /* and with the limit of a minute */
#define LIMIT_PACED_SOURCES      64   /* that calls take turns at */
#define LIMIT_PACE_CALLS         1000 /* of a window of a pace; where more are allowed, as many */
#define DEFAULT_LIMITS           "search_web=20/10m"

/* Configuration */
#define LIMIT_CONFIG_FILE_BYTES  KIB(256)
#define LIMIT_CONFIG_VALUE_BYTES KIB(32)

/* Configuration files of clients, which `forage setup` edits */
#define LIMIT_SETUP_FILE_BYTES  MIB(32) /* Claude Code keeps more than settings in its own */
#define LIMIT_SETUP_DEPTH       128     /* nesting of values */
#define LIMIT_SETUP_KEYS        32      /* variables that one entry names */
#define LIMIT_SETUP_ENTRY_BYTES KIB(64)

/* The log of a server */
#define LIMIT_LOG_BYTES   KIB(256) /* lines that wait for somebody to read stderr */
#define TIME_LOG_END_MS   1000     /* for the last lines to be read, at the program's end */
#define TIME_LOG_STILL_MS 100      /* the same, while nobody takes any of them */

/* Descriptors beyond the connections of clients: transfers, children, files */
#define LIMIT_OTHER_DESCRIPTORS 8192
#define LIMIT_SPARE_DESCRIPTORS 4 /* in reserve, for when the others are used up */

/* Fetching and children */
#define LIMIT_URL_BYTES          KIB(8)
#define LIMIT_FETCH_BODY_BYTES   MIB(16)
#define LIMIT_FETCH_HEAD_BYTES   KIB(64)
#define LIMIT_FETCH_REDIRECTS    8
#define LIMIT_FETCH_CODINGS      4 /* by which an answer is compressed, one after the other */
#define LIMIT_RESOLVED_ADDRESSES 16
#define LIMIT_LOOK_UPS           256 /* of names, at once */
#define LIMIT_SYSTEM_LOOK_UPS    64  /* of them, those for which the system needs a thread */
#define LIMIT_CHILD_OUTPUT_BYTES MIB(16)
#define TIME_NAME_SERVER_MS      1000  /* a name server's first try; then twice that, then again */
#define TIME_LOOK_UP_MS          15000 /* one name, whatever is tried */
#define LIMIT_PROCESSES_SEEN     65536 /* of a machine, when one looks for those of a child */
#define TIME_CHILD_WEIGH_MS      200   /* between looks at the memory of a child's processes */

/* What is kept across restarts */
#define LIMIT_DB_STATEMENTS     64    /* that one connection keeps ready */
#define LIMIT_DB_VALUES         24    /* parameters of one statement */
#define LIMIT_DB_DROPPED_ROWS   10000 /* of an answer that is not wanted any more */
#define LIMIT_SQLITE_CACHE_KIB  256   /* of one connection */
#define LIMIT_SQLITE_LOG_KIB    4096  /* of the write-ahead log before a checkpoint */
#define LIMIT_MEMORY_LOG_KIB    32768 /* the same for memories: imports touch pages repeatedly */
#define TIME_SQLITE_PATIENCE_MS 10000 /* for another process that writes */

#define TIME_RECORD_WAIT_MS      15000  /* for a record to be on the disk, before the answer goes */
#define TIME_STORE_RETRY_MS      10000  /* between two tries to open a store or to write to it */
#define TIME_STORE_IDLE_MS       60000  /* without work, after which the store is closed */
#define LIMIT_UNSAVED_RECORDS    4096   /* kept in memory while the store fails */
#define LIMIT_USAGE_DAYS         400    /* of usage that are kept */
#define LIMIT_HISTORY_ROWS       10000  /* of one caller; the oldest go first */
#define LIMIT_HISTORY_BYTES      4096   /* of the arguments of one call */
#define LIMIT_HISTORY_ONE_BYTES  MIB(1) /* of what came of it, before it is packed */
#define LIMIT_HISTORY_ALL_BYTES  MIB(64) /* of all results of one caller, packed */
#define LIMIT_PROVIDER_CHARS     80      /* of who was asked, in the record of a call */
#define LIMIT_OVERVIEW_NAMES     300     /* of tools, providers or callers that an overview tells */
#define LIMIT_NOTED_CALLS        4096    /* of tools that ask nobody, on their way to the store */
#define TIME_NOTED_CALLS_MS      1000    /* in which they gather, and are stored together */
#define TIME_TALLY_MINUTES_MS    (INT64_C(3) * 3600 * 1000)      /* that sums of minutes are kept */
#define TIME_TALLY_HOURS_MS      (INT64_C(8) * 24 * 3600 * 1000) /* and those of hours */
#define LIMIT_KEPT_ANSWERS       512
#define LIMIT_KEPT_ANSWERS_BYTES MIB(16)
#define LIMIT_KEPT_ANSWER_BYTES  MIB(1)
#define LIMIT_PRICES_BYTES       KIB(256)
#define LIMIT_TRIAL_DAYS         400     /* of trials of experiments that are kept, */
#define LIMIT_TRIALS             1000000 /* and how many; the oldest go first */

/* Experiments */
#define LIMIT_EXPERIMENTS            64 /* that run at once */
#define LIMIT_EXPERIMENT_BYTES       KIB(256)
#define LIMIT_EXPERIMENT_ARENA_BYTES MIB(16) /* all of them */
#define LIMIT_EXPERIMENT_NAME_CHARS  64
#define LIMIT_EXPERIMENT_ARM_CHARS   32
#define LIMIT_EXPERIMENT_ARMS        8
#define LIMIT_EXPERIMENT_TOOLS       8
#define LIMIT_EXPERIMENT_RECENT      4096   /* units whose last query is remembered, */
#define TIME_EXPERIMENT_RECENT_MS    300000 /* for so long */

/* Pages */
#define LIMIT_PAGE_INPUT_BYTES   MIB(64)  /* of HTML that is looked at */
#define LIMIT_PAGE_QUICK_BYTES   KIB(512) /* a larger one lets quick calls go first */
#define LIMIT_PAGE_TREE_BYTES    MIB(96)  /* the parsed page; what comes after is cut */
#define LIMIT_PAGE_ELEMENTS      65000    /* of it; the same */
#define LIMIT_PAGE_SCRATCH_BYTES MIB(128) /* what is known of it while it is read */
#define LIMIT_PAGE_DEPTH         200      /* of elements; what would be deeper is hung beside */
#define LIMIT_MARKDOWN_BYTES     MIB(16)  /* of one page */
#define LIMIT_PAGES_OF_CALL      10       /* that one call of get_content reads */
#define LIMIT_HOST_TRANSFERS     6        /* at once to one host and port, over all calls */
#define LIMIT_PAGE_REVIEWS       10       /* of a product that are written, */
#define LIMIT_PAGE_REVIEW_TEXT   3000     /* and letters of all of them; the rest is counted */
#define LIMIT_PAGE_SCROLL_CHARS  50000    /* of a list that grows, where nobody says how many */
#define LIMIT_PAGE_HEADINGS      2000     /* of an outline */
#define LIMIT_FOCUS_PIECES       65536    /* of a page that are looked at for an answer, */
#define LIMIT_FOCUS_HITS         2000     /* and the best of them */
#define LIMIT_CACHE_ENTRY_BYTES  MIB(17)  /* one file of the cache */
#define LIMIT_CACHE_ENTRIES      20000
#define LIMIT_KEPT_DOCUMENTS     32     /* that are kept as they were made of their pages, */
#define LIMIT_KEPT_BYTES         MIB(4) /* all of them */
#define TIME_SOURCE_MS           30000  /* one page, its redirects included */

/* Searching the web */
#define LIMIT_SEARCH_PROVIDERS     40 /* with all open sources */
#define LIMIT_SEARCH_QUERIES       5  /* in one call */
#define LIMIT_SEARCH_MERGE         8  /* providers asked side by side */
#define LIMIT_SEARCH_RANKINGS      (LIMIT_SEARCH_QUERIES * LIMIT_SEARCH_MERGE)
#define LIMIT_SEARCH_RESULTS       20   /* of one call */
#define LIMIT_SEARCH_HITS          100  /* of one answer that are looked at */
#define LIMIT_SEARCH_SITES         20   /* wanted, and as many excluded */
#define LIMIT_SEARCH_REMARKS       16   /* about one search */
#define LIMIT_SEARCH_LINK_BYTES    2000 /* a longer one is no result that anybody can use */
#define LIMIT_SEARCH_REQUEST_BYTES KIB(32)
#define LIMIT_SEARCH_ANSWER_BYTES  MIB(4)
#define LIMIT_ABSTRACT_WORDS       1000  /* of a paper, where they come one by one */
#define TIME_SEARCH_TRY_MS         10000 /* one provider, one try */
#define TIME_SEARCH_PAUSE_MS       500   /* before another try, where the provider does not say */
#define TIME_SEARCH_PATIENCE_MS    10000 /* with a provider that asks to wait */
#define TIME_PACE_AHEAD_MS         60000 /* that a turn at a source is taken ahead of its time */
#define TIME_CHARGE_WAIT_MS        2000  /* for a charge to be seen by others, before it is sent */
#define TIME_PACE_STORE_MS         1000  /* for the store to decide; then this process does */

/* Answers */
#define LIMIT_ANSWER_TEXT_BYTES     MIB(1) /* all texts of one answer */
#define LIMIT_SOURCE_URL_BYTES      KIB(2)
#define LIMIT_SOURCE_TITLE_CHARS    300
#define LIMIT_SNIPPET_CHARS         600
#define LIMIT_URL_PARAMETERS        4096 /* of one text that are looked at for tracking */
#define LIMIT_GUARDRAIL_RULES       200
#define LIMIT_GUARDRAIL_ARENA_BYTES MIB(8)

/* Replies of language models */
#define LIMIT_REPLY_BYTES           MIB(16)  /* what a service sends, with all frames of a stream */
#define LIMIT_REPLY_TEXT_BYTES      MIB(1)   /* its text, its reasoning, the arguments of a use */
#define LIMIT_REPLY_SCRATCH_BYTES   MIB(64)  /* one event while it is read; the whole, unstreamed */
#define LIMIT_REPLY_USES            64       /* of tools, in one reply */
#define LIMIT_REPLY_PARTS           64       /* texts of one reply */
#define LIMIT_REPLY_ANNOTATIONS     256      /* of one reply; further ones are passed over */
#define LIMIT_REPLY_ERROR_BYTES     KIB(256) /* the body of an error */
#define LIMIT_REPLY_WORDS_BYTES     2048     /* of an error that are passed on */
#define TIME_REPLY_BACKOFF_MS       1000     /* before the second try at most; then twice that */
#define TIME_REPLY_PATIENCE_MS      60000    /* for a pause that a service asks for */
#define TIME_REPLY_LOADING_MS       60000    /* for a server that reads its model into memory, */
#define TIME_REPLY_LOADING_PAUSE_MS 1000     /* and between two looks at it */
#define TIME_REPLY_TOLD_MS          1000     /* between two words on how much was written */
#define TIME_REPLY_LESSON_MS        3600000  /* that a server's refusal is remembered */
#define TIME_REPLY_END_MS           250      /* for a connection to end after the last event */

/* Loaders of pages */
#define LIMIT_XML_DEPTH          256     /* nesting of elements */
#define LIMIT_XML_ATTRIBUTES     32      /* of one element; further ones are passed over */
#define LIMIT_LOADER_BYTES       MIB(7)  /* one answer of a service's interface */
#define LIMIT_LOADER_ARENA_BYTES MIB(8)  /* taken by a call: no further answer is asked for */
#define LIMIT_LOADER_PAGES       5       /* of comments or answers, 100 each */
#define LIMIT_THREAD_POSTS       2000    /* of a conversation that are written */
#define LIMIT_DISCOURSE_PAGES    10      /* of posts, 20 each */
#define LIMIT_DOCUMENT_BYTES     MIB(16) /* the Markdown of one document */
#define LIMIT_FEED_ITEMS         200
#define LIMIT_SITEMAP_ITEMS      50000 /* as many as a sitemap may have */
#define LIMIT_ZIP_MEMBERS        20000 /* of a packed document, */
#define LIMIT_ZIP_RATIO          400   /* and how much smaller packing may make a large one */
#define LIMIT_DOCUMENT_UNPACKED_BYTES                                                              \
    MIB(64) /* what is unpacked of one document, all its parts together */
#define LIMIT_DOCUMENT_SCRATCH_BYTES MIB(128) /* that, and what is known of it while it is read */
#define LIMIT_DOCUMENT_MARKUP_BYTES  MIB(32)  /* its text before it is Markdown */
#define LIMIT_DOCUMENT_STYLES        8192
#define LIMIT_DOCUMENT_LISTS         8192   /* kinds of numbering */
#define LIMIT_DOCUMENT_SLIDES        2000   /* or sheets */
#define LIMIT_SHEET_FORMATS          1024   /* of a workbook's own */
#define LIMIT_SHEET_CELLS            400000 /* of a workbook that are not empty */
#define LIMIT_SHEET_COLUMNS          256    /* of a sheet that are not empty; the rest is cut */
#define LIMIT_FEED_SUMMARY_CHARS     600
#define LIMIT_PDF_LINES              200000
#define LIMIT_PDF_WORDS              400000
#define LIMIT_PDF_OUTPUT_BYTES       MIB(24)  /* what Poppler writes about one document */
#define LIMIT_PDF_MEMORY_BYTES       MIB(192) /* address space of its child; 1,500 pages take 130 */
#define LIMIT_PDF_DESCRIPTORS        32
#define LIMIT_PDFS_AT_ONCE           4
#define TIME_PDF_MS                  30000
#define TIME_PDF_FONTS_MS            10000 /* for what makes its Markdown better, and is no text */
#define TIME_SERVICE_PATIENCE_MS                                                                   \
    10000                        /* for a service that asks to wait before the next request        \
                                  */
#define TIME_ARXIV_REST_MS 60000 /* after it said that it is asked too often */

/* Research */
#define LIMIT_PROMPT_BYTES          KIB(256) /* a template of a prompt */
#define LIMIT_RESEARCH_TURNS        100      /* of a worker, whatever it does in them */
#define LIMIT_RESEARCH_ITEMS        200      /* queries or pages that are listed */
#define LIMIT_RESEARCH_ITEM_CHARS   2000     /* of one of them */
#define LIMIT_RESEARCH_ERRORS_BYTES KIB(16)  /* the end of a worker's stderr */
#define LIMIT_EVIDENCE_PAGES        500      /* of one research, */
#define LIMIT_EVIDENCE_PAGE_BYTES   MIB(5)   /* the text of one; what is longer is not kept, */
#define LIMIT_EVIDENCE_BYTES        MIB(8)   /* and of all of them */
#define LIMIT_EVIDENCE_TOKENS       2097152  /* of one page */
#define LIMIT_EVIDENCE_SCRATCH      MIB(96)  /* while they are compared */
#define LIMIT_EVIDENCE_WORK         MIB(64)  /* comparisons of tokens, of one research */
#define LIMIT_EVIDENCE_NOTES        1000
#define LIMIT_EVIDENCE_NOTE_BYTES   KIB(16) /* a claim, a quote, a title or an address */
#define LIMIT_EVIDENCE_FOOTNOTES    7500    /* characters of all of a report */
#define LIMIT_EVIDENCE_CONFLICTS    50
#define LIMIT_EVIDENCE_REPORT_BYTES MIB(4)   /* a report with its footnotes */
#define LIMIT_RESEARCH_SOURCES      500      /* that one research knows */
#define LIMIT_RESEARCH_PAGE_BYTES   KIB(768) /* of the text of a page that is kept */
#define TIME_RESEARCH_READ_MS       20000    /* for pages that are read side by side */
#define TIME_RESEARCH_WRITE_MS      60000    /* that are kept back for the report, at most */
#define LIMIT_FOLLOW_UPS            20       /* questions that follow on each other */
#define TIME_FOLLOW_FRESH_MS        INT64_C(3600000) /* in which a page need not be read again */
#define TIME_RESEARCH_SIGN_MS       10000            /* between two signs of life to the client */
#define TIME_PROGRESS_TICK_MS       1000  /* between two looks of a waiting line on a terminal */
#define TIME_RESEARCH_LEAST_MS      10000 /* for one that is taken up near its end */
#define TIME_RESEARCH_LEAVE_MS      1000  /* for a worker that is done to leave by itself */

/* The browser and its filtering proxy */
#define LIMIT_BROWSER_HTML_CHARS MIB(4) /* of a rendered page, in units of UTF-16 */
#define LIMIT_BROWSER_MESSAGE_BYTES                                                                \
    MIB(32) /* one message; a character may be written as 6 bytes                                  \
             */
/* What a process of the browser may map to write to: 230 MB are mapped before a page is there, and
 * hardly any of it used. And what all of them may hold, by how many pages are shown at once. */
#define LIMIT_BROWSER_PROCESS_BYTES MIB(768)
#define LIMIT_BROWSER_BYTES(pages)  (MIB(512) + (pages)*MIB(128))
#define LIMIT_BROWSER_EVENTS        8192 /* that wait for the thread of one page */
#define LIMIT_BROWSER_REQUESTS      1024 /* of one page that are watched at once */
#define LIMIT_BROWSER_FRAMES        16   /* of its own site inside a page that are read */
#define LIMIT_PROXY_TUNNELS         256
#define LIMIT_PROXY_TUNNEL_BYTES    MIB(64) /* carried by one tunnel, both ways together */
#define TIME_PROXY_CONNECT_MS       10000   /* for a look-up, and for each address */
#define TIME_PROXY_IDLE_MS          60000   /* without a byte */
#define TIME_BROWSER_START_MS       15000   /* one try: from its start to its first answer */
#define TIME_BROWSER_ANSWER_MS      10000   /* for an answer about a page */
#define TIME_PAGE_NAVIGATE_MS       20000   /* until the server has begun to answer */
#define TIME_BROWSER_BUSY_MS        8000    /* for a page whose scripts do not let us look at it */
#define TIME_PAGE_QUIET_MS          100     /* without a change or a request: it is complete, */
#define TIME_PAGE_LIVE_QUIET_MS     400     /* the same, while a web socket or the like is open */
#define TIME_PAGE_SETTLING_MS       250     /* until what repeats itself does not count */
#define TIME_PAGE_START_MS          5000    /* after the last change; later requests do not count */
#define TIME_PAGE_REQUEST_MS        8000    /* a request that takes longer is not waited for, */
#define TIME_PAGE_STREAM_MS         2000    /* nor an answer that goes on after so long a pause */
#define TIME_PAGE_CEILING_MS        20000   /* for pages that never rest; empty ones get it all, */
#define TIME_PAGE_SCROLL_MS         10000   /* for a list that grows */
#define TIME_PAGE_RESERVE_MS        3000    /* but for what reading it takes */

/* PostgreSQL */
#define TIME_INDEX_UNUSED_S       86400 /* until what is kept of another database may go */
#define TIME_POSTGRES_CONNECT_MS  10000 /* until the server has let us in */
#define TIME_POSTGRES_POOLER_MS   3000  /* for what a pooler is asked */
#define TIME_POSTGRES_RETRY_MS    3000  /* for a server that is just starting */
#define TIME_POSTGRES_PAUSE_MS    50    /* between two tries */
#define TIME_POSTGRES_PATIENCE_MS 10000 /* for a statement without a call, and for every commit */

/* ---- memory ---- */

#define LIMIT_MEMORY_QUERY_WORDS      256u  /* of one search; what is beyond is not looked at */
#define LIMIT_MEMORY_PREFIX_TERMS     4096u /* that one prefix may stand for */
#define LIMIT_MEMORY_EXCERPT_BYTES    KIB(16)
#define LIMIT_MEMORY_KEY_BYTES        1024u
#define LIMIT_MEMORY_NAMESPACE_CHARS  256u /* as the tools' definitions say */
#define LIMIT_MEMORY_TEXT_BYTES       MIB(1)
#define LIMIT_MEMORY_SUMMARY_BYTES    2048u
#define LIMIT_MEMORY_METADATA_BYTES   KIB(64)
#define LIMIT_MEMORY_TAGS             32u
#define LIMIT_MEMORY_NAMESPACES       1000u  /* that the statistics name */
#define LIMIT_MEMORY_EXACT_TOTAL      10000u /* results beyond it are not counted */
#define LIMIT_INDEX_UNUSED            64u    /* folders of other databases that a process removes */
#define LIMIT_MEMORY_LOST             1048576 /* changes that a failing server may take along */
#define LIMIT_MEMORY_REMOVALS         100000  /* that are told to indexes of other processes */
#define LIMIT_MEMORY_IDLE_CONNECTIONS 8u      /* connections to the file that are kept open, */
#define LIMIT_MEMORY_REST_CONNECTIONS 2u      /* and when no call has come for a while */
#define LIMIT_MEMORY_IDLE_READERS     4u      /* readers of words that are kept, of 512 KiB each */
#define LIMIT_MEMORY_CHECK_LINES      10000u  /* problems that a check lists; all are counted */
#define LIMIT_MEMORY_CATCH_UP         1000u   /* changes that an index takes at a time */
#define LIMIT_MEMORY_AT_ONCE          16384   /* memories that a search waits for to be indexed */
#define LIMIT_MEMORY_ROW_BYTES        MIB(4)  /* one memory, with what it takes to read it */
#define LIMIT_MEMORY_CACHE_KIB        2048    /* pages of the file, of one connection, */
#define LIMIT_MEMORY_IMPORT_KIB       16384   /* and while it imports, which touches most of them */
#define LIMIT_MEMORY_SWEEP            100u    /* expired memories that are deleted in passing */
#define LIMIT_MEMORY_CANDIDATES       10000u  /* texts that one full-text search looks into */
#define LIMIT_MEMORY_LINE_BYTES       MIB(8)  /* of an import */
#define LIMIT_MEMORY_ITEM_BYTES       MIB(16) /* the same, of an item of an array: a conversation */
#define LIMIT_MEMORY_WRONG_LINES      20u     /* of an import, that are named */
#define LIMIT_MEMORY_IMPORT_LINES     1000u   /* in one transaction */
#define LIMIT_MEMORY_IMPORT_BYTES     MIB(16) /* the same, of what was read of them */
#define LIMIT_MEMORY_IMPORT_SHARE     4u      /* of both, one part in so many while others write */
#define LIMIT_MEMORY_EXPORT_BYTES     KIB(64) /* that are sent at a time */
#define LIMIT_MEMORY_OVERVIEW         50000u  /* memories that an overview looks at, newest first */
#define LIMIT_MEMORY_OVERVIEW_TAGS    10000u  /* tags that it counts, */
#define LIMIT_MEMORY_OVERVIEW_LISTED  100u    /* and of those, and damaged memories, it names */
#define LIMIT_MEMORY_GROUP            256u    /* changes that share one commit */
#define LIMIT_MEMORY_INDEXES          64u     /* namespaces whose index stays in memory */
#define TIME_MEMORY_TRANSFER_MS       600000  /* for an import or an export over HTTP */
#define TIME_MEMORY_WRITE_MS          30000   /* for one commit, other processes' included */
#define TIME_MEMORY_SCRUB_MS          200     /* for readers to let go of old contents */
#define TIME_MEMORY_SWEEP_MS          10000   /* between two looks for what has expired */

/* ---- the files of an index ---- */

#define LIMIT_INDEX_SEGMENTS        64u                  /* of one index */
#define LIMIT_INDEX_SEGMENT_BYTES   MIB(2048)            /* one of them */
#define LIMIT_INDEX_BYTES           (UINT64_C(16) << 30) /* all of one index */
#define LIMIT_INDEX_BUILDER_ENTRIES 16384u               /* that become one segment, */
#define LIMIT_INDEX_BUILDER_ROWS    1000000u             /* or so many terms of them, */
#define LIMIT_INDEX_BUILDER_BYTES   MIB(16)              /* or so many bytes of positions */
#define LIMIT_INDEX_GIVERS          1000u   /* hits that give to their neighbours, of very many */
#define LIMIT_INDEX_MANIFEST_BYTES  KIB(16) /* the names of them */
#define LIMIT_INDEX_SCRUBS          4096u   /* namespaces that wait for what was removed to leave */
#define LIMIT_INDEX_UNSAVED         100u    /* documents that the next process has to read again */
#define TIME_INDEX_SAVE_MS          1000    /* after a change, for others to come along */
#define TIME_INDEX_GAP_SAVE_MS      5000    /* the same, while very much comes */
#define TIME_INDEX_RETRY_MS         1000    /* when another process was just writing */
#define TIME_INDEX_WORK_MS          120000  /* for one namespace, of a command that ends */
#define TIME_INDEX_REST_MS          10000   /* at most, after a save that took long */
#define LIMIT_MAPPINGS              4096u   /* files that the process has mapped */

/* The model of meanings: what its file may say of itself */
#define LIMIT_MODEL_LAYERS      24u
#define LIMIT_MODEL_WIDTH       384u
#define LIMIT_MODEL_INNER       1536u
#define LIMIT_MODEL_TOKENS      512u /* of a text */
#define LIMIT_MODEL_PIECES      100000u
#define LIMIT_MODEL_PIECE_BYTES MIB(4)
#define LIMIT_MODEL_FILE_BYTES  MIB(256)

/* Meaning: vectors of texts, and who makes them */
#define LIMIT_MEANING_DIMENSIONS   4096u    /* numbers of a vector */
#define LIMIT_MEANING_TEXTS        32u      /* in one request */
#define LIMIT_MEANING_TEXT_BYTES   KIB(8)   /* of a text that an endpoint gets; the rest is cut */
#define LIMIT_MEANING_ANSWER_BYTES MIB(16)  /* of an endpoint */
#define LIMIT_EMBEDDING_TASKS      16u      /* memories whose vectors are written at once */
#define LIMIT_EMBEDDING_BYTES      KIB(256) /* of texts, the same */
#define TIME_MEANING_QUERY_MS      2000     /* for the vector of a question, while somebody waits */
#define TIME_MEANING_TEXTS_MS      30000    /* for those of texts, in the background */

/* Vectors of a space */
#define LIMIT_VECTORS_EXACT 50000u /* passages of a space that a search compares one by one */
#define LIMIT_VECTORS_PART  100u   /* beyond that, one in so many, nearest by their signs */
#define LIMIT_VECTORS_FRESH 65536u /* passages in memory; more go to files at once */
#define LIMIT_VECTORS_LABEL 1024u  /* bytes of what a file says of who made them */

/* The wall clock, for whoever deletes what is old: how far it may be ahead of what was expected
 * before it is doubted, and for how long it is. */
#define TIME_CLOCK_SLACK_MS INT64_C(60000)
#define TIME_CLOCK_DOUBT_MS INT64_C(86400000)

#endif
