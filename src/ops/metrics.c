/* The numbers of /metrics. */
#include "ops/metrics.h"

#include "call/line.h"
#include "core/log_ring.h"
#include "core/stock.h"
#include "core/trouble.h"
#include "ops/status.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void begin(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(struct buf *out, const char *name, const char *type, const char *help, double value)
{
    begin(out, name, type, help);
    buf_printf(out, "%s %.17g\n", name, value);
}

static double resident_bytes(void)
{
    unsigned long long total = 0;
    unsigned long long resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%llu %llu", &total, &resident) != 2) {
            resident = 0;
        }
        fclose(file);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double processor_seconds(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

enum metric_field { CALLS, FAILURES, SECONDS, RUNNING };

static double field_of(const struct entry *entry, enum metric_field field)
{
    switch (field) {
    case CALLS:
        return (double)atomic_load(&entry->counts->calls);
    case FAILURES:
        return (double)atomic_load(&entry->counts->failures);
    case SECONDS:
        return (double)atomic_load(&entry->counts->total_us) / 1e6;
    case RUNNING:
        return (double)atomic_load(&entry->counts->running);
    }
    return 0;
}

static const struct {
    enum metric_field field;
    const char *name, *type, *help;
} PER_TOOL[] = {
    {CALLS, "forage_tool_calls_total", "counter", "Calls of a tool."},
    {FAILURES, "forage_tool_failures_total", "counter", "Calls that ended in an error."},
    {SECONDS, "forage_tool_seconds_total", "counter", "Time spent in calls of a tool."},
    {RUNNING, "forage_tool_running", "gauge", "Calls that run now."},
};

/* ---- what callers share ---- */

enum stock_field { STOCK_USED, STOCK_LIMIT, STOCK_REFUSED };

struct stock_line {
    struct buf *out;
    const char *name;
    enum stock_field field;
};

static void write_stock(void *context, const struct stock_rule *rule, size_t used, uint64_t refused)
{
    const struct stock_line *line = context;
    double value = line->field == STOCK_USED    ? (double)used
                   : line->field == STOCK_LIMIT ? (double)rule->all
                                                : (double)refused;
    buf_printf(line->out, "%s{stock=\"%s\"} %.17g\n", line->name, rule->name, value);
}

static void write_stocks(struct buf *out, struct stocks *stocks)
{
    static const struct {
        enum stock_field field;
        const char *name, *type, *help;
    } LINES[] = {
        {STOCK_USED, "forage_stock_used", "gauge", "Units in use of what callers share."},
        {STOCK_LIMIT, "forage_stock_limit", "gauge", "Units that there are of it."},
        {STOCK_REFUSED, "forage_stock_refused_total", "counter", "Times that it was refused."},
    };
    for (size_t i = 0; stocks && i < sizeof LINES / sizeof *LINES; i++) {
        struct stock_line line = {.out = out, .name = LINES[i].name, .field = LINES[i].field};
        begin(out, LINES[i].name, LINES[i].type, LINES[i].help);
        stocks_look(stocks, write_stock, &line);
    }
}

/* ---- where they wait for their turn ---- */

enum line_field { LINE_INSIDE, LINE_WAITING, LINE_LIMIT };

struct line_line {
    struct buf *out;
    const char *name;
    enum line_field field;
};

static void write_line(void *context, const struct line *line, size_t inside, size_t waiting)
{
    const struct line_line *to = context;
    size_t value = to->field == LINE_INSIDE    ? inside
                   : to->field == LINE_WAITING ? waiting
                                               : line->most;
    buf_printf(to->out, "%s{line=\"%s\"} %zu\n", to->name, line->name, value);
}

static void write_lines(struct buf *out, struct turns *turns)
{
    static const struct {
        enum line_field field;
        const char *name, *help;
    } LINES[] = {
        {LINE_INSIDE, "forage_line_inside", "Calls that have their turn."},
        {LINE_WAITING, "forage_line_waiting", "Calls that wait for their turn."},
        {LINE_LIMIT, "forage_line_limit", "Calls that may have their turn at once."},
    };
    for (size_t i = 0; turns && i < sizeof LINES / sizeof *LINES; i++) {
        struct line_line line = {.out = out, .name = LINES[i].name, .field = LINES[i].field};
        begin(out, LINES[i].name, "gauge", LINES[i].help);
        turns_look(turns, write_line, &line);
    }
}

static void write_troubles(struct buf *out)
{
    struct trouble troubles[TROUBLES];
    size_t count = troubles_copy(troubles);
    begin(out, "forage_trouble", "gauge",
          "1 for each part that does not work; /health?full says why.");
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "forage_trouble{part=\"%s\"} 1\n", troubles[i].part);
    }
}

void metrics_write(struct buf *out, const struct program_status *status, size_t connections)
{
    const struct registry *registry = status->registry;
    begin(out, "forage_build_info", "gauge", "The version, as a label.");
    buf_printf(out, "forage_build_info{version=\"%s\"} 1\n", FORAGE_VERSION);
    one(out, "forage_uptime_seconds", "gauge", "Seconds since the start.", status_uptime_s(status));
    one(out, "forage_http_connections", "gauge", "Open HTTP connections.", (double)connections);
    one(out, "forage_log_dropped_lines_total", "counter", "Log lines that nobody read in time.",
        (double)log_ring_dropped());
    one(out, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
    one(out, "process_cpu_seconds_total", "counter", "Processor time, user and system.",
        processor_seconds());
    write_stocks(out, status->stocks);
    write_lines(out, status->turns);
    write_troubles(out);
    for (size_t i = 0; i < sizeof PER_TOOL / sizeof *PER_TOOL; i++) {
        begin(out, PER_TOOL[i].name, PER_TOOL[i].type, PER_TOOL[i].help);
        for (size_t tool = 0; tool < registry->tool_count; tool++) {
            const struct entry *entry = &registry->tools[tool];
            buf_printf(out, "%s{tool=\"%s\"} %.17g\n", PER_TOOL[i].name, entry->name,
                       field_of(entry, PER_TOOL[i].field));
        }
    }
}
