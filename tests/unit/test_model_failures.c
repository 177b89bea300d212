/* Errors of all services: what is read of them, and what they mean. The black-box table
 * (test_model_faults.py) has what follows from that. */
#include "unit.h"

#include "core/limits.h"
#include "model/shared.h"

#include <string.h>

static int set_up(void **state)
{
    *state = arena_new(MIB(8));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    *state = arena_free(*state);
    return 0;
}

static void reads_every_form(void **state)
{
    static const struct {
        const char *body;
        const char *code, *type, *param, *message;
        int status;
    } CASES[] = {
        {"{\"error\":{\"message\":\"m\",\"type\":\"t\",\"param\":\"p\",\"code\":\"c\"}}", "c", "t",
         "p", "m", 0},
        {"{\"error\":{\"code\":429,\"message\":\"m\"}}", "429", NULL, NULL, "m", 429},
        {"{\"error\":\"m\"}", NULL, NULL, NULL, "m", 0},
        {"{\"type\":\"error\",\"error\":{\"type\":\"t\",\"message\":\"m\"}}", NULL, "t", NULL, "m",
         0},
        {"[{\"error\":{\"code\":503,\"message\":\"m\",\"status\":\"UNAVAILABLE\"}}]", "503",
         "UNAVAILABLE", NULL, "m", 503},
        {"{\"object\":\"error\",\"message\":\"m\",\"type\":\"t\",\"code\":400}", "400", "t", NULL,
         "m", 400},
        {"{\"detail\":\"m\"}", NULL, NULL, NULL, "m", 0},
        {"{\"detail\":[{\"loc\":[\"body\",\"p\"],\"msg\":\"m\"}]}", NULL, NULL, "p", "m", 0},
        {"{\"type\":\"error\",\"code\":\"c\",\"message\":\"m\",\"param\":null}", "c", "error", NULL,
         "m", 0},
        {"{\"error\":{\"code\":99999,\"message\":\"m\"}}", "99999", NULL, NULL, "m", 0},
        {"<html>", NULL, NULL, NULL, NULL, 0},
        {"", NULL, NULL, NULL, NULL, 0},
        {"[]", NULL, NULL, NULL, NULL, 0},
        {"{\"error\":null}", NULL, NULL, NULL, NULL, 0},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct model_error error;
        error_read(*state, CASES[i].body, strlen(CASES[i].body), &error);
        const char *const seen[] = {error.code, error.type, error.param, error.message};
        const char *const wanted[] = {CASES[i].code, CASES[i].type, CASES[i].param,
                                      CASES[i].message};
        for (size_t k = 0; k < COUNT(seen); k++) {
            if (wanted[k]) {
                assert_non_null(seen[k]);
                assert_string_equal(seen[k], wanted[k]);
            } else {
                assert_null(seen[k]);
            }
        }
        assert_int_equal(error.status, CASES[i].status);
    }
}

static void reads_pauses_of_google(void **state)
{
    static const struct {
        const char *details;
        int64_t retry_ms;
        bool of_day;
    } CASES[] = {
        {"[{\"retryDelay\":\"34.074824224s\"}]", 34075, false},
        {"[{\"retryDelay\":\"0s\"}]", 0, false},
        {"[{\"retryDelay\":\"soon\"}]", -1, false},
        {"[{\"retryDelay\":\"-4s\"}]", -1, false},
        {"[{\"retryDelay\":5}]", -1, false},
        {"[{\"violations\":[{\"quotaId\":\"RequestsPerMinute\"}]}]", 60000, false},
        {"[{\"violations\":[{\"quotaId\":\"RequestsPerDayPerModel\"}]}]", -1, true},
        {"{}", -1, false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct model_error error;
        const char *body = arena_printf(*state, "{\"error\":{\"details\":%s}}", CASES[i].details);
        error_read(*state, body, strlen(body), &error);
        assert_int_equal(error.retry_ms, CASES[i].retry_ms);
        assert_int_equal(error.of_day, CASES[i].of_day);
    }
}

static void learns_from_names_and_words(void **state)
{
    static const struct {
        const char *param, *message;
        unsigned choices, choice;
    } CASES[] = {
        {"tool_choice", NULL, CHOICE_ALL, CHOICE_TOOL_CHOICE},
        {"tool_choice", NULL, CHOICE_ALL & ~CHOICE_TOOL_CHOICE, 0},
        {"reasoning.effort", NULL, CHOICE_ALL, CHOICE_REASONING},
        {"store", NULL, CHOICE_ALL, CHOICE_STATELESS},
        {"storey", NULL, CHOICE_ALL, 0},
        {NULL, "the store is closed", CHOICE_ALL, 0},
        {"stream", NULL, CHOICE_ALL, CHOICE_STREAM},
        {NULL, "Unknown: stream_options", CHOICE_ALL, CHOICE_STREAM_USAGE},
        {"max_completion_tokens", "no", CHOICE_ALL, CHOICE_NEW_LIMIT},
        {"max_completion_tokens", "no", CHOICE_ALL & ~CHOICE_NEW_LIMIT, CHOICE_LIMIT},
        {"reasoning_effort", "no", CHOICE_ALL, CHOICE_OWN_EFFORT},
        {"reasoning_effort", "no", CHOICE_ALL & ~CHOICE_OWN_EFFORT, CHOICE_DIALECT},
        {"text.format.schema", "invalid schema", CHOICE_ALL, CHOICE_STRICT},
        {"text.format.schema", "invalid schema", CHOICE_ALL & ~CHOICE_STRICT, CHOICE_SHAPE},
        {"input", "Invalid input.", CHOICE_ALL, 0},
        {NULL, "Invalid value at 'generation_config.maxOutputTokens'", CHOICE_ALL, CHOICE_LIMIT},
        {NULL, "The `reasoning_content` in the thinking mode must be passed back to the API.",
         CHOICE_ALL, 0},
        {NULL, "access to this model is restricted", CHOICE_ALL, 0},
        {NULL, "tools[0].function.strict: unknown", CHOICE_ALL, CHOICE_STRICT},
        {NULL, "restricted: 'strict' is unknown", CHOICE_ALL, CHOICE_STRICT},
        {NULL, NULL, CHOICE_ALL, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct model_error error = {.param = CASES[i].param, .message = CASES[i].message};
        assert_int_equal(failure_choice(&error, CASES[i].choices), CASES[i].choice);
    }
}

static void finds_a_smaller_limit(void **state)
{
    static const struct {
        const char *message;
        int64_t most;
    } CASES[] = {
        {"max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens", 4096},
        {"`max_completion_tokens` must be less than or equal to `2048`", 2048},
        {"max_tokens is not supported", 0},
        {"max_tokens: 100 is too many", 0},
        {"max_tokens: 99999999999999999999999999", 0},
        {"the limit is 4096", 0},
        {"maxOutputTokens: supported range is from 1 (inclusive) to 4097 (exclusive)", 4096},
        {"max_tokens is not supported with gpt-4o-2024-08-06", 0},
        {"max_tokens: gpt-4o-2024-08-06 has 4096, not more", 4096},
        {"max_tokens: 16,384 is too many", 0},
        {NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct model_error error = {.message = CASES[i].message};
        assert_int_equal(failure_most_tokens(&error, 8192), CASES[i].most);
    }
}

static void forgets_lessons_after_an_hour(void **state)
{
    struct models *models = models_new(NULL);
    struct model model = {.label = "vllm:m", .address = "http://127.0.0.1/v1"};
    assert_non_null(models);
    (void)state;
    models_learn(models, &model, CHOICE_SHAPE, 4096, 1000);
    models_recall(models, &model, 1000 + TIME_REPLY_LESSON_MS);
    assert_int_equal(atomic_load(&model.refused), CHOICE_SHAPE);
    assert_int_equal(atomic_load(&model.most_tokens), 4096);
    atomic_store(&model.refused, 0);
    atomic_store(&model.most_tokens, 0);
    models_recall(models, &model, 1001 + TIME_REPLY_LESSON_MS);
    assert_int_equal(atomic_load(&model.refused), 0);
    assert_int_equal(atomic_load(&model.most_tokens), 0);
    models_free(models);
}

UNIT_TEST(model_failures)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_every_form, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_pauses_of_google, set_up, tear_down),
        cmocka_unit_test_setup_teardown(learns_from_names_and_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_a_smaller_limit, set_up, tear_down),
        cmocka_unit_test(forgets_lessons_after_an_hour),
    };
    return cmocka_run_group_tests_name("model_failures", tests, NULL, NULL);
}
