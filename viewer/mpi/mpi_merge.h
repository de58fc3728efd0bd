/* What the parts of `seep-mpi merge` share: the ranks, who reads what, and what is counted. */
#ifndef SEEP_VIEWER_MPI_MPI_MERGE_H
#define SEEP_VIEWER_MPI_MPI_MERGE_H

#include "libprof/digest/digest.h"
#include "viewer/mpi/reduction_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seep_mpi_options {
    bool local, own, summary, verbose;
    double patience_s;
    const char *out, *roles;
};

/* A rank as the others know it. */
struct seep_mpi_rank {
    int32_t node;     /* the least rank that sees the same files */
    int32_t place, n; /* which of how many that do */
    int32_t n_names;  /* what they divide */
    char host[SEEP_DIGEST_HOST_TEXT];
};

/* What all ranks of a part of the tree did: sent along with their digest. */
struct seep_mpi_counts {
    uint64_t sent_bytes, sent_most_bytes, received_bytes, received_most_bytes;
    uint64_t read_most_us, merge_us, merge_most_us;
};

/* A neighbour in the tree, which is told now and then that this rank is alive. */
struct seep_mpi_link {
    int rank;
    bool open;    /* it is told */
    bool sending; /* the last message is on its way: `request` of mpi_post.c */
};

struct seep_mpi {
    const struct seep_mpi_options *options;
    int rank, size;
    char **names; /* [me.n_names] what this rank and those that see the same files divide */
    char *name_bytes;
    struct seep_mpi_rank me;
    struct seep_mpi_rank *ranks; /* [size] at rank 0; NULL elsewhere */
    int n_children, children[SEEP_MPI_CHILDREN];
    struct seep_mpi_link links[SEEP_MPI_CHILDREN + 1];      /* [0] to the parent */
    double told_s;                                          /* when the links were last told */
    uint64_t sent_bytes, received_bytes, read_us, merge_us; /* by this rank */
    struct seep_mpi_counts counts; /* of this rank's part of the tree, without itself */
};

#endif
