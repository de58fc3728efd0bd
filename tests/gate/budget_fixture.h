/* A budget for one test, filled from options or from a file. */
#ifndef SEEP_TESTS_GATE_BUDGET_FIXTURE_H
#define SEEP_TESTS_GATE_BUDGET_FIXTURE_H

#include "libprof/gate/budget.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

static struct seep_budget budget;
static struct seep_error err;

static inline void option(enum seep_budget_kind kind, const char *text)
{
    ck_assert_msg(seep_budget_add(&budget, kind, text, &err) == 0, "%s", err.text);
}

/* Takes what stands there for a file's contents, in the place of what the budget was. */
static inline int read_text(const char *text, size_t n)
{
    char path[] = "/tmp/seep-budget-XXXXXX";
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, n), (ssize_t)n);
    close(fd);
    seep_budget_fini(&budget);
    err.text[0] = '\0';
    int rc = seep_budget_read(&budget, path, &err);
    unlink(path);
    return rc;
}

#endif
