/* What runs, waits, rests and does not work. */
#include "ops/activity.h"

#include "call/line.h"
#include "core/clock.h"
#include "core/stock.h"
#include "core/trouble.h"
#include "guard/breaker.h"
#include "ops/ledger.h"

/* Where the parts of the program show themselves. */
struct activity_list {
    yyjson_mut_doc *doc;
    yyjson_mut_val *items;
};

static void add_stamp(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, int64_t at_ms)
{
    char stamp[CLOCK_STAMP_SIZE];
    if (at_ms) {
        yyjson_mut_obj_add_strcpy(doc, object, key, clock_stamp_of(at_ms, stamp));
    }
}

void activity_add_troubles(yyjson_mut_doc *doc, yyjson_mut_val *body)
{
    struct trouble troubles[TROUBLES];
    size_t count = troubles_copy(troubles);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, body, "troubles");
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *trouble = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, trouble, "part", troubles[i].part);
        yyjson_mut_obj_add_strcpy(doc, trouble, "message", troubles[i].words);
        yyjson_mut_obj_add_real(doc, trouble, "seconds",
                                (double)(clock_now_ms() - troubles[i].since_ms) / 1000);
    }
}

static void add_stock(void *context, const struct stock_rule *rule, size_t used, uint64_t refused)
{
    const struct activity_list *to = context;
    yyjson_mut_val *stock = yyjson_mut_arr_add_obj(to->doc, to->items);
    yyjson_mut_obj_add_str(to->doc, stock, "name", rule->name);
    yyjson_mut_obj_add_str(to->doc, stock, "what", rule->help);
    yyjson_mut_obj_add_uint(to->doc, stock, "used", used);
    yyjson_mut_obj_add_uint(to->doc, stock, "limit", rule->all);
    yyjson_mut_obj_add_uint(to->doc, stock, "refused", refused);
}

void activity_add_stocks(const struct program_status *status, yyjson_mut_doc *doc,
                         yyjson_mut_val *body)
{
    struct activity_list list = {doc, yyjson_mut_obj_add_arr(doc, body, "stocks")};
    stocks_look(status->stocks, add_stock, &list);
}

static void add_line(void *context, const struct line *line, size_t inside, size_t waiting)
{
    const struct activity_list *to = context;
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(to->doc, to->items);
    yyjson_mut_obj_add_str(to->doc, item, "name", line->name);
    yyjson_mut_obj_add_uint(to->doc, item, "inside", inside);
    yyjson_mut_obj_add_uint(to->doc, item, "waiting", waiting);
    yyjson_mut_obj_add_uint(to->doc, item, "limit", line->most);
}

static void add_upstream(void *context, const struct upstream *upstream)
{
    const struct activity_list *to = context;
    yyjson_mut_doc *doc = to->doc;
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, to->items);
    bool rests = upstream->rests_ms > 0;
    yyjson_mut_obj_add_str(doc, item, "kind", upstream->kind);
    yyjson_mut_obj_add_strcpy(doc, item, "name", upstream->name);
    yyjson_mut_obj_add_str(doc, item, "state",
                           rests                ? "resting"
                           : upstream->failures ? "failing"
                                                : "ready");
    add_stamp(doc, item, "until", rests ? clock_wall_ms() + upstream->rests_ms : 0);
    yyjson_mut_obj_add_uint(doc, item, "failures", upstream->failures);
    add_stamp(doc, item, "answered_at", upstream->answered_ms);
    if (*upstream->trouble) {
        yyjson_mut_obj_add_strcpy(doc, item, "trouble", upstream->trouble);
        add_stamp(doc, item, "trouble_at", upstream->trouble_ms);
    }
}

static void add_running(const struct program_status *status, yyjson_mut_doc *doc,
                        yyjson_mut_val *body)
{
    const struct registry *registry = status->registry;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, body, "running");
    for (size_t i = 0; i < registry->tool_count; i++) {
        uint32_t running = atomic_load(&registry->tools[i].counts->running);
        if (running && !registry->tools[i].quick) {
            yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
            yyjson_mut_obj_add_str(doc, item, "tool", registry->tools[i].name);
            yyjson_mut_obj_add_uint(doc, item, "calls", running);
        }
    }
}

yyjson_mut_val *activity_describe(const struct program_status *status, struct upstreams *upstreams,
                                  yyjson_mut_doc *doc)
{
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    add_running(status, doc, body);
    struct activity_list lines = {doc, yyjson_mut_obj_add_arr(doc, body, "lines")};
    turns_look(status->turns, add_line, &lines);
    struct activity_list asked = {doc, yyjson_mut_obj_add_arr(doc, body, "upstreams")};
    if (upstreams) {
        upstreams_look(upstreams, add_upstream, &asked);
    }
    activity_add_stocks(status, doc, body);
    activity_add_troubles(doc, body);
    status_add_waits(status, doc, body);
    yyjson_mut_obj_add_uint(doc, body, "unrecorded",
                            status->ledger ? ledger_unnoted(status->ledger) : 0);
    return body;
}

uint64_t activity_calls(const struct program_status *status)
{
    const struct registry *registry = status->registry;
    uint64_t calls = 0;
    for (size_t i = 0; i < registry->tool_count; i++) {
        calls += registry->tools[i].quick ? 0 : atomic_load(&registry->tools[i].counts->calls);
    }
    return calls;
}
