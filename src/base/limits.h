/* Every ceiling of the program stands here, so that a reader can see at a glance what can grow and
 * how far. A limit that an operator may change is a variable (config/variables.c) whose default is
 * named here. */
#ifndef FORAGE_BASE_LIMITS_H
#define FORAGE_BASE_LIMITS_H

#define KIB(n) ((size_t)(n)*1024)
#define MIB(n) (KIB(n) * 1024)

/* Messages from clients */
#define LIMIT_MESSAGE_BYTES       MIB(4) /* one JSON-RPC message, on either transport */
#define LIMIT_JSON_DEPTH          64     /* nesting of objects and arrays */
#define LIMIT_BATCH_MESSAGES      64     /* messages in a legacy batch */
#define LIMIT_REQUEST_ID_CHARS    256    /* a JSON-RPC id that is a string */
#define LIMIT_SESSION_LABEL_CHARS 128    /* an Mcp-Session-Id */

/* HTTP */
#define LIMIT_HTTP_HEAD_BYTES   KIB(32)
#define LIMIT_HTTP_HEADERS      64
#define LIMIT_HTTP_TARGET_BYTES KIB(8)
#define LIMIT_HTTP_CONNECTIONS  4096
#define LIMIT_HTTP_OUT_BYTES    MIB(8) /* unsent bytes of one connection */
#define TIME_HTTP_HEAD_MS       10000  /* first byte of a request to the end of its head */
#define TIME_HTTP_BODY_MS       30000  /* end of the head to the end of the body */
#define TIME_HTTP_IDLE_MS       120000 /* between requests */
#define TIME_HTTP_WRITE_MS      30000  /* a client that takes no byte of its answer */
#define TIME_SSE_OPEN_MS        5000   /* an answer that takes longer becomes a stream */
#define TIME_SSE_COMMENT_MS     15000  /* a sign of life on a quiet stream */

/* Calls */
#define LIMIT_CALL_ARENA_BYTES MIB(64)
#define LIMIT_ERROR_CHARS      2000
#define LIMIT_PENDING_ASKS     256 /* questions to clients waiting for an answer */
#define LIMIT_LISTENERS        256 /* open subscriptions/listen streams */
#define TIME_CALL_DEADLINE_MS  50000
#define TIME_SHUTDOWN_GRACE_MS 5000
#define TIME_SHUTDOWN_SEND_MS  1000 /* for the last answers to reach their clients */

/* Callers */
#define LIMIT_TOKENS            256
#define LIMIT_TOKEN_CHARS       512
#define LIMIT_CALLER_NAME_CHARS 64
#define LIMIT_WINDOW_KEYS       4096 /* callers x tools that the rate limiter remembers */

/* Configuration */
#define LIMIT_CONFIG_FILE_BYTES  KIB(256)
#define LIMIT_CONFIG_VALUE_BYTES KIB(32)

/* Descriptors beyond the connections of clients: transfers, children, files */
#define LIMIT_OTHER_DESCRIPTORS 2048

/* Fetching and children */
#define LIMIT_URL_BYTES          KIB(8)
#define LIMIT_FETCH_BODY_BYTES   MIB(16)
#define LIMIT_FETCH_HEAD_BYTES   KIB(64)
#define LIMIT_FETCH_REDIRECTS    8
#define LIMIT_RESOLVED_ADDRESSES 16
#define LIMIT_RESOLVER_THREADS   64
#define LIMIT_CHILD_OUTPUT_BYTES MIB(16)

#endif
