/* What our own loop tells beside its report: what it used of what it might, why it ended, what
 * stays open. */
#include "research/own/work.h"

#include "guard/admission.h"

/* Time in seconds, money in dollars, everything else as it is counted. */
static void add_amount(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                       enum allowance_kind kind, int64_t amount)
{
    if (kind == ALLOWANCE_MONEY) {
        yyjson_mut_obj_add_real(doc, object, key, (double)amount / (double)NANO_PER_USD);
    } else if (kind == ALLOWANCE_TIME) {
        yyjson_mut_obj_add_real(doc, object, key, (double)amount / 1000);
    } else {
        yyjson_mut_obj_add_sint(doc, object, key, amount);
    }
}

static void add_allowance(yyjson_mut_doc *doc, yyjson_mut_val *object,
                          const struct allowance *allowance)
{
    for (int kind = 0; kind < ALLOWANCE_KINDS; kind++) {
        enum allowance_kind which = (enum allowance_kind)kind;
        if (kind == ALLOWANCE_MONEY && !allowance->used[kind] && !allowance->limit[kind]) {
            continue; /* nobody knows a price */
        }
        yyjson_mut_val *one = yyjson_mut_obj_add_obj(doc, object, ALLOWANCE_WORDS[kind]);
        add_amount(doc, one, "used", which, allowance->used[kind]);
        if (allowance->limit[kind]) {
            add_amount(doc, one, "limit", which, allowance->limit[kind]);
        }
    }
}

void own_describe(const struct own *own, yyjson_mut_doc *doc, yyjson_mut_val *result,
                  yyjson_mut_val *metadata)
{
    yyjson_mut_val *budget = yyjson_mut_obj_add_obj(doc, metadata, "budget");
    add_allowance(doc, budget, &own->allowance);
    if (own->planned) {
        yyjson_mut_val *parts = yyjson_mut_obj_add_arr(doc, budget, "parts");
        for (size_t i = 0; i < own->part_count; i++) {
            yyjson_mut_val *part = yyjson_mut_arr_add_obj(doc, parts);
            json_add_string(doc, part, "question", own->parts[i].question);
            add_allowance(doc, part, &own->parts[i].allowance);
        }
    }
    json_add_string(doc, metadata, "stopped", own->stopped);
    if (own->open_count) {
        json_add_strings(doc, result, "open_questions", own->open, own->open_count);
    }
    if (own->disputed_count) {
        json_add_strings(doc, result, "disputed", own->disputed, own->disputed_count);
    }
}
