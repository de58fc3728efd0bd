/* A file of Check tests is one program. Its tests add themselves, so that none can be forgotten:
 *
 *   TEST(what_is_true) { ck_assert(…); }
 *   TEST(what_is_true_of_each, .to = N(table)) { … table[_i] … }
 *   TEST(what_needs_a_device) { if (!there) SKIP("this machine has none"); … }
 *   SUITE("name of the suite", .setup = open_it, .teardown = close_it, .timeout_s = 120)
 */
#ifndef SEEP_TESTS_SUITE_H
#define SEEP_TESTS_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct suite_test {
    const TTest *test;
    struct suite_test *next;
    int from, to;    /* _i runs from `from` to before `to`; 0: to before from + 1 */
    int signal;      /* that ends it, */
    int exit_status; /* or status */
    bool left_out;
    void (*setup)(void), (*teardown)(void); /* instead of the suite's */
};

struct suite {
    const char *name;
    void (*setup)(void), (*teardown)(void); /* around each test */
    void (*const *setups)(void); /* all tests once with each of these; n_setups of them */
    int n_setups;
    double timeout_s; /* of a test; 0: 60, which no test needs but on a very busy machine */
};

/* Ends a test that cannot be run here; tests/run-all counts it, and says why. */
#define SKIP(why)                                                                                  \
    do {                                                                                           \
        printf("skipped: %s: %s\n", __func__, why);                                                \
        fflush(stdout);                                                                            \
        return;                                                                                    \
    } while (0)

/* How many there are in a table. */
#define N(table) (sizeof(table) / sizeof *(table))

/* A test; what stands behind its name are fields of suite_test, computed before main(). */
#define TEST(name, ...)                                                                            \
    static const TTest *name;                                                                      \
    static void __attribute__((constructor)) name##_add(void)                                      \
    {                                                                                              \
        static struct suite_test name##_new;                                                       \
        name##_new = (struct suite_test){.test = name, ##__VA_ARGS__};                             \
        suite_add(&name##_new);                                                                    \
    }                                                                                              \
    START_TEST(name)

/* main(); what stands behind the name are fields of suite. */
#define SUITE(title, ...)                                                                          \
    int main(void)                                                                                 \
    {                                                                                              \
        return suite_run((struct suite){.name = title, ##__VA_ARGS__});                            \
    }

static struct suite_test *suite_first, **suite_end = &suite_first;

static inline void suite_add(struct suite_test *entry)
{
    *suite_end = entry;
    suite_end = &entry->next;
}

static inline void suite_add_case(Suite *suite, const struct suite *all, const struct suite_test *t,
                                  void (*setup)(void))
{
    TCase *tests = tcase_create(all->name);
    bool own = t->setup || t->teardown;

    tcase_add_checked_fixture(tests, own ? t->setup : setup, own ? t->teardown : all->teardown);
    tcase_set_timeout(tests, all->timeout_s > 0 ? all->timeout_s : 60);
    _tcase_add_test(tests, t->test, t->signal, t->exit_status, t->from,
                    t->to ? t->to : t->from + 1);
    suite_add_tcase(suite, tests);
}

/* Runs the tests as CK_VERBOSITY and the like say. Returns main()'s status. */
static inline int suite_run(struct suite all)
{
    Suite *suite = suite_create(all.name);

    for (int i = 0; i < (all.setups ? all.n_setups : 1); i++)
        for (const struct suite_test *t = suite_first; t; t = t->next)
            if (!t->left_out)
                suite_add_case(suite, &all, t, all.setups ? all.setups[i] : all.setup);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
