/* Which rank reads what. The ranks that see the same files divide their names, one after the other;
 * with --local these are the ranks of a node, with --own each rank alone, else all. */
#ifndef SEEP_VIEWER_MPI_MPI_SHARE_H
#define SEEP_VIEWER_MPI_MPI_SHARE_H

#include "viewer/mpi/mpi_merge.h"

/* Agrees with all ranks on it, which are all alive as after MPI_Init(): fills names, me and, at
 * rank 0, ranks. Only the first rank of those that see the same files looks up what the names given
 * stand for. Returns 0; -SEEP_ENOMEM, and then others wait for this rank,
 * which ends them all (MPI_Abort()). Allocates, seep_mpi_share_fini() in either case. */
SEEP_MUST_CHECK int seep_mpi_share_init(struct seep_mpi *m, char **given, int n_given);
void seep_mpi_share_fini(struct seep_mpi *m);

/* How many names a rank reads, and the i-th of them as an index in its names. */
static inline int seep_mpi_share_n(const struct seep_mpi_rank *rank)
{
    return (rank->n_names - rank->place + rank->n - 1) / rank->n;
}

static inline int seep_mpi_share_name(const struct seep_mpi_rank *rank, int i)
{
    return rank->place + i * rank->n;
}

#endif
