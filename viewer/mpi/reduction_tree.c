#include "viewer/mpi/reduction_tree.h"

int seep_mpi_parent(int rank)
{
    return rank ? rank & (rank - 1) : -1;
}

int seep_mpi_children(int rank, int size, int children[SEEP_MPI_CHILDREN])
{
    int n = 0;

    for (int k = 0; k < SEEP_MPI_CHILDREN && (rank == 0 || !(rank >> k & 1)); k++) {
        if (size - rank <= 1 << k)
            break;
        children[n++] = rank + (1 << k);
    }
    return n;
}

int seep_mpi_depth(int size)
{
    int depth = 0;

    while (depth < SEEP_MPI_CHILDREN && size > 1 << depth)
        depth++;
    return depth;
}
