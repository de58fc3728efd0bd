/* The reduction: each rank merges what it reads with what its children have, and passes it on. */
#ifndef SEEP_VIEWER_MPI_MPI_REDUCE_H
#define SEEP_VIEWER_MPI_MPI_REDUCE_H

#include "viewer/mpi/mpi_merge.h"

/* What a rank has of the tree below it. */
struct seep_mpi_part {
    struct seep_digest digest;
    uint8_t *covered;             /* [(size + 7) / 8] a bit for each rank that is in it */
    bool took[SEEP_MPI_CHILDREN]; /* which children are in it */
};

static inline bool seep_mpi_is_covered(const struct seep_mpi_part *part, int rank)
{
    return part->covered[rank / 8] >> rank % 8 & 1;
}

/* Reads this rank's names, then waits for its children, each as long as it gives signs of life, or
 * the patience. What a child has is left out if it cannot be read, or sums up what is in here
 * already: rank 0 sees that its ranks are not covered. Returns 0 or -SEEP_ENOMEM, and then the part
 * covers nothing; seep_mpi_part_fini() in either case. */
SEEP_MUST_CHECK int seep_mpi_reduce(struct seep_mpi *m, struct seep_mpi_part *part);
void seep_mpi_part_fini(struct seep_mpi_part *part);

/* Passes a part on to the parent; one that covers nothing as an empty message. */
void seep_mpi_pass_on(struct seep_mpi *m, const struct seep_mpi_part *part);

#endif
