/* Host memory that was refused: by what, and whether that says that memory ran out.
 *
 * A program may ask for much only to see what it gets: it asks again for less at once, and gets it.
 * That is a probe, and no shortage. It is one where the same thread got a block at the same place
 * within SEEP_RETRY_MS and in the same step: from the same call, or at the same Python line at
 * least 1/SEEP_T_RETRY_SHARE of what was refused. So a MemoryError was caught if the job went on at
 * another place, or in the next step, and ended the job if that ended. */
#ifndef SEEP_LIBPROF_MEASURE_HOST_REFUSAL_H
#define SEEP_LIBPROF_MEASURE_HOST_REFUSAL_H

#include "libprof/model/model.h"

/* What refused a request: a limit of the process, or without one the kernel. */
struct seep_host_bound {
    const char *kind;    /* "RLIMIT_AS", "RLIMIT_DATA", "overcommit"; NULL: not of the host */
    uint64_t bytes;      /* the limit; 0 of overcommit, whose rule depends on all processes */
    uint64_t used_bytes; /* of it then */
};

bool seep_host_refusal_is_probe(const struct seep_model *m, const struct seep_model_shortage *its);

/* A limit counts if the request came near it: a heap is enlarged in pieces. A cgroup refuses
 * nothing, it kills. */
struct seep_host_bound seep_host_bound_of(const struct seep_model_shortage *its);

uint64_t seep_host_bound_free(const struct seep_host_bound *bound);

#endif
