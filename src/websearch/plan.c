/* Reads the settings that say whom a search asks. */
#include "websearch/plan.h"

#include "config/config.h"
#include "core/status.h"
#include "text/text.h"
#include "websearch/open/choose.h"

#include <stdio.h>
#include <string.h>

#define MERGE_OPEN 3
#define NO_RULES   "none"

/* ---- whom ---- */

static bool is_planned(const struct plan *plan, const struct provider *provider)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->items[i].provider == provider) {
            return true;
        }
    }
    return false;
}

static void add(struct plan *plan, const struct provider *provider, enum search_type type)
{
    if (!provider->paths[type] || is_planned(plan, provider)) {
        return;
    }
    if (!provider_configured(provider)) {
        bool unheard = provider->open && provider->open->contact == CONTACT_NEEDED &&
                       !config_is_set("FORAGE_CONTACT");
        if (unheard && plan->unheard_count < LIMIT_SEARCH_PROVIDERS) {
            plan->unheard[plan->unheard_count++] = provider;
        }
    } else if (plan->count < LIMIT_SEARCH_PROVIDERS) {
        plan->items[plan->count].provider = provider;
        plan->items[plan->count++].type = type;
    }
}

/* The sources that suit the search; one of the table that does not exist is just not there. */
static void add_open(struct plan *plan, const struct search_query *query)
{
    struct source_choice choices[LIMIT_SEARCH_PROVIDERS];
    size_t count = choose_sources(query, choices);
    for (size_t i = 0; i < count; i++) {
        const struct provider *source = provider_named(choices[i].name);
        if (source && source->open) {
            add(plan, source, source->paths[query->type] ? query->type : choices[i].type);
        }
    }
}

void plan_make(struct plan *plan, const struct search_query *query)
{
    size_t wanted;
    const char *const *names = config_list("FORAGE_SEARCH_PROVIDERS", &wanted);
    *plan = (struct plan){.merge = plan_merge()};
    for (size_t i = 0; !wanted && PROVIDERS[i]; i++) {
        add(plan, PROVIDERS[i], query->type);
    }
    for (size_t i = 0; i < wanted; i++) {
        const struct provider *provider = provider_named(names[i]);
        if (provider) {
            add(plan, provider, query->type);
        } else if (strcmp(names[i], OPEN_GROUP) == 0) {
            add_open(plan, query);
        }
    }
}

size_t plan_merge(void)
{
    size_t count;
    size_t wanted = (size_t)config_int("FORAGE_SEARCH_MERGE");
    const char *const *names = config_list("FORAGE_SEARCH_PROVIDERS", &count);
    for (size_t i = 0; !wanted && i < count; i++) {
        wanted = strcmp(names[i], OPEN_GROUP) == 0 ? MERGE_OPEN : 0;
    }
    return wanted ? wanted : 1;
}

/* ---- rules ---- */

/* The bit of a rule; 0: there is none of that name. */
static unsigned rule_named(const char *name)
{
    for (size_t i = 0; ORDER_NAMES[i]; i++) {
        if (strcmp(ORDER_NAMES[i], name) == 0) {
            return 1u << i;
        }
    }
    return 0;
}

struct order plan_order(void)
{
    size_t count;
    struct order order = {.words_weight = (unsigned)config_int("FORAGE_SEARCH_WORDS_WEIGHT")};
    const char *const *names = config_list("FORAGE_SEARCH_ORDER", &count);
    for (size_t i = 0; i < count; i++) {
        order.rules |= rule_named(names[i]);
    }
    return order;
}

/* ---- checking ---- */

/* The words about a name that nobody has; the nearest of those that are tried is suggested. */
static int unknown(char *problem, size_t size, const char *variable, const char *what,
                   const struct text_guess *guess)
{
    struct text_out out;
    text_start(&out, problem, size);
    text_putf(&out, "%s: there is no %s ", variable, what);
    text_put_quoted(&out, guess->word, guess->length, 40);
    if (guess->best) {
        text_putf(&out, "; did you mean %.*s?", (int)guess->best_length, guess->best);
    }
    return ERR_INVALID;
}

static void try_all(struct text_guess *guess, const struct provider *const *list)
{
    for (size_t i = 0; list[i]; i++) {
        text_guess_try(guess, list[i]->name, strlen(list[i]->name));
    }
}

static int check_providers(char *problem, size_t size)
{
    const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1];
    const char *name;
    struct text_guess guess;
    if (providers_chosen(chosen, &name) == OK) {
        return OK;
    }
    text_guess_start(&guess, name, strlen(name));
    try_all(&guess, PROVIDERS);
    try_all(&guess, OPEN_SOURCES);
    text_guess_try(&guess, OPEN_GROUP, strlen(OPEN_GROUP));
    int status = unknown(problem, size, "FORAGE_SEARCH_PROVIDERS", "provider", &guess);
    size_t length = strlen(problem);
    snprintf(problem + length, size - length,
             "%s there are " PROVIDER_NAMES ", open sources, and \"" OPEN_GROUP
             "\" for those that suit a search",
             guess.best ? "" : ";");
    return status;
}

int plan_check(char *problem, size_t size)
{
    size_t count;
    const char *const *names = config_list("FORAGE_SEARCH_ORDER", &count);
    for (size_t i = 0; i < count; i++) {
        if (!rule_named(names[i]) && strcmp(names[i], NO_RULES) != 0) {
            struct text_guess guess;
            text_guess_start(&guess, names[i], strlen(names[i]));
            for (size_t j = 0; ORDER_NAMES[j]; j++) {
                text_guess_try(&guess, ORDER_NAMES[j], strlen(ORDER_NAMES[j]));
            }
            return unknown(problem, size, "FORAGE_SEARCH_ORDER", "rule", &guess);
        }
    }
    return check_providers(problem, size);
}
