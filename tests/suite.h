/* The end of every Check program's main(). */
#ifndef SEEP_TESTS_SUITE_H
#define SEEP_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Runs the suite as CK_VERBOSITY and the like say, and frees it. Returns main()'s status. */
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);

    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
