/* Allocations of known functions, at a depth that the caller chooses. Included once, by a
 * subject. */
#ifndef SEEP_TESTS_BY_DEPTH_H
#define SEEP_TESTS_BY_DEPTH_H

#include "tally.h"

static NOIPA void *allocate(size_t n)
{
    void *p = malloc(n);
    MUST(p != NULL);
    return p;
}

static NOIPA void *by_depth(int depth, size_t n)
{
    volatile int keep = depth;
    void *p = depth == 0 ? allocate(n) : by_depth(depth - 1, n);
    MUST(keep == depth);
    return p;
}

#endif
