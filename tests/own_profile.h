/* A profile of the suite's own process, for suites of what writes one. */
#ifndef SEEP_TESTS_OWN_PROFILE_H
#define SEEP_TESTS_OWN_PROFILE_H

#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "libprof/runtime/store/arena.h"
#include "libprof/runtime/store/site_table.h"

static char own_profile[64]; /* its path */

static inline void own_profile_open(uint64_t max_bytes)
{
    struct seep_header constants = {
        .max_bytes = max_bytes, .inherited_end = SEEP_HEADER_BYTES, .pid = 1};
    snprintf(own_profile, sizeof(own_profile), "/tmp/seep-test-%d.seep", getpid());
    unlink(own_profile); /* of one that was killed, and had this pid */
    ck_assert_int_eq(seep_arena_create(own_profile, &constants), 0);
    seep_sites_first_own = SEEP_HEADER_BYTES / 64;
}

static inline void own_profile_remove(void)
{
    unlink(own_profile);
}

#endif
