/* The reduction: each rank merges what it reads with what its children have, and passes it on; then
 * rank 0 asks for what did not reach it, and ends the others. */
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

/* ---- after the reduction --------------------------------------------------------------------- */

/* What became of the ranks that are not covered. */
struct seep_mpi_rest {
    bool *alive;  /* [size] has been heard of */
    int *missing; /* [size] digests of this rank that nobody could read */
    bool all_alive;
};

/* At rank 0: merges what the ranks that are not covered should have read. Who sees the same files
 * reads it: rank 0 itself, the rank, or another one of its node. What nobody reads is counted in
 * the digest. Returns 0 or -SEEP_ENOMEM; allocates, seep_mpi_rest_fini() in either case. */
SEEP_MUST_CHECK int seep_mpi_merge_rest(struct seep_mpi *m, struct seep_mpi_part *part,
                                        struct seep_mpi_rest *rest);
void seep_mpi_rest_fini(struct seep_mpi_rest *rest);

/* Tells of each rank that does not answer. */
void seep_mpi_tell_rest(const struct seep_mpi *m, const struct seep_mpi_part *part,
                        const struct seep_mpi_rest *rest);

/* At rank 0: lets the others end. */
void seep_mpi_end_others(struct seep_mpi *m, const struct seep_mpi_part *part,
                         const struct seep_mpi_rest *rest);

/* At the others: does what rank 0 asks until it is done. Returns SEEP_MPI_SAY_DONE;
 * SEEP_MPI_SAY_QUIT; or −1 if rank 0 was silent for so long that it must be dead. */
SEEP_MUST_CHECK int seep_mpi_serve_rest(struct seep_mpi *m, const struct seep_mpi_part *part);

#endif
