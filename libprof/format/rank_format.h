/* Which part of a launch a process is, as launchers' variables say
 * (runtime/program/cluster_variables.def). 0 and "" are unknown: numbers that begin at 0 are kept
 * with 1 added. */
#ifndef SEEP_LIBPROF_FORMAT_RANK_FORMAT_H
#define SEEP_LIBPROF_FORMAT_RANK_FORMAT_H

#include <stdint.h>

enum { SEEP_JOB_ID_BYTES = 64 };

struct seep_rank_notes { /* written like header.rank: as of the first step. 88 bytes */
    uint32_t local_rank_plus_1;
    uint32_t node_plus_1;
    uint32_t world_size;
    uint32_t local_size;
    uint32_t restart_plus_1;
    uint32_t reserved;
    char job_id[SEEP_JOB_ID_BYTES]; /* of printable ASCII; cut */
};

#endif
