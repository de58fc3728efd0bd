/* Levels that are drawn: straight from one point to the next, or flat until the next. */
#ifndef SEEP_TESTS_VERDICT_LEVELS_H
#define SEEP_TESTS_VERDICT_LEVELS_H

#include "tests/verdict/pattern_fixture.h"

struct bend {
    uint32_t step;
    double blocks;
};

/* The drawing ends with a bend of step 0; from its last point on the level stays. */
static inline uint64_t drawn(uint32_t period, void *arg)
{
    const struct bend *at = arg;
    const double step = period < FIRST ? 0 : period - FIRST + 1;

    if (step < at->step)
        return 0;
    while (at[1].step && step >= at[1].step)
        at++;
    if (!at[1].step)
        return (uint64_t)at->blocks;
    return (uint64_t)(at->blocks +
                      (at[1].blocks - at->blocks) * (step - at->step) / (at[1].step - at->step));
}

#endif
