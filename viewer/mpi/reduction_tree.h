/* The binomial tree over which digests are merged: rank 0 is its root, and its depth is the number
 * of bits of the highest rank. Pure. */
#ifndef SEEP_VIEWER_MPI_REDUCTION_TREE_H
#define SEEP_VIEWER_MPI_REDUCTION_TREE_H

enum { SEEP_MPI_CHILDREN = 31 };

/* The rank without its lowest bit; −1 for rank 0. */
int seep_mpi_parent(int rank);

/* The children of a rank among `size` ranks, those with the smallest part of the tree first.
 * Returns how many. */
int seep_mpi_children(int rank, int size, int children[SEEP_MPI_CHILDREN]);

/* How many messages follow one another from the farthest rank to rank 0. */
int seep_mpi_depth(int size);

#endif
