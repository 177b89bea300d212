/* Looks at windows and sums without taking anything of them. */
#include "ops/allowances.h"

#include "core/clock.h"
#include "core/limits.h"
#include "guard/limiter.h"

#include <string.h>

#define DAY_MS INT64_C(86400000)

struct limits_writer {
    struct db *db;
    const struct admission_rules *rules;
    const char *caller; /* "" for all of them */
    int64_t now_ms;
    yyjson_mut_doc *doc;
    yyjson_mut_val *limits;
};

static void add_stamp(const struct limits_writer *to, yyjson_mut_val *object, const char *key,
                      int64_t at_ms)
{
    char stamp[CLOCK_STAMP_SIZE];
    yyjson_mut_obj_add_strcpy(to->doc, object, key, clock_stamp_of(at_ms, stamp));
}

/* A limit of several tools is one limit. */
static bool is_told(const struct limits_writer *to, const struct limit_claim *claim)
{
    size_t index, most;
    yyjson_mut_val *limit;
    yyjson_mut_arr_foreach(to->limits, index, most, limit)
    {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(limit, "tool"), claim->tool) &&
            yyjson_mut_get_sint(yyjson_mut_obj_get(limit, "window_s")) * 1000 == claim->window_ms &&
            yyjson_mut_get_bool(yyjson_mut_obj_get(limit, "for_all")) == claim->for_all) {
            return true;
        }
    }
    return false;
}

static int add_limit(struct limits_writer *to, struct limit_claim *claim)
{
    struct limit_window window;
    if ((!*to->caller && !claim->for_all) || is_told(to, claim)) {
        return OK;
    }
    int status = records_look(to->db, claim, to->now_ms, &window);
    if (status != OK) {
        return status;
    }
    yyjson_mut_val *limit = yyjson_mut_arr_add_obj(to->doc, to->limits);
    yyjson_mut_obj_add_str(to->doc, limit, "tool", claim->tool);
    yyjson_mut_obj_add_uint(to->doc, limit, "calls", claim->calls);
    yyjson_mut_obj_add_sint(to->doc, limit, "window_s", claim->window_ms / 1000);
    yyjson_mut_obj_add_uint(to->doc, limit, "left", claim->left);
    yyjson_mut_obj_add_bool(to->doc, limit, "for_all", claim->for_all);
    if (window.used) {
        add_stamp(to, limit, "resets_at", window.ends_ms);
    }
    return OK;
}

static int add_limits(struct limits_writer *to, const struct registry *registry)
{
    int status = OK;
    for (size_t i = 0; status == OK && i < registry->tool_count; i++) {
        struct limit_claim claims[LIMIT_WINDOW_CLAIMS];
        size_t count =
            limit_rules_claims(to->rules->limits, to->caller, registry->tools[i].name, claims);
        for (size_t j = 0; status == OK && j < count; j++) {
            status = add_limit(to, &claims[j]);
        }
    }
    return status;
}

static void add_budget(const struct limits_writer *to, yyjson_mut_val *budgets, bool for_all,
                       int64_t most_nano, int64_t spent_nano)
{
    if (most_nano <= 0 || (!for_all && !*to->caller)) {
        return;
    }
    yyjson_mut_val *budget = yyjson_mut_arr_add_obj(to->doc, budgets);
    yyjson_mut_obj_add_bool(to->doc, budget, "for_all", for_all);
    yyjson_mut_obj_add_real(to->doc, budget, "usd", (double)most_nano / (double)NANO_PER_USD);
    yyjson_mut_obj_add_real(to->doc, budget, "spent_usd",
                            (double)spent_nano / (double)NANO_PER_USD);
    add_stamp(to, budget, "resets_at", to->now_ms - to->now_ms % DAY_MS + DAY_MS);
}

int allowances_describe(const struct admission_rules *rules, const struct registry *registry,
                        struct db *db, const char *caller, yyjson_mut_doc *doc,
                        yyjson_mut_val *body)
{
    struct limits_writer to = {.db = db,
                               .rules = rules,
                               .caller = caller ? caller : "",
                               .now_ms = clock_wall_ms(),
                               .doc = doc,
                               .limits = yyjson_mut_obj_add_arr(doc, body, "limits")};
    yyjson_mut_val *budgets = yyjson_mut_obj_add_arr(doc, body, "budgets");
    struct spending spent = {0};
    int status = add_limits(&to, registry);
    if (status == OK && (rules->budget_nano > 0 || rules->total_budget_nano > 0)) {
        status = records_spent(db, to.caller, to.now_ms, &spent);
    }
    add_budget(&to, budgets, false, rules->budget_nano, spent.caller_nano);
    add_budget(&to, budgets, true, rules->total_budget_nano, spent.total_nano);
    return status;
}
