/* The tensors of a model of Gaussians as PyTorch's code makes them: parameters with their moments,
 * which densification joins and indexes. On a caching allocator; contents do not exist. */
#ifndef SEEP_KERNELS_SPLAT_TENSORS_H
#define SEEP_KERNELS_SPLAT_TENSORS_H

#include "kernels/lab/scenarios/caching_allocator.h"

#include <stdbool.h>

/* 3DGS's parameters: place, colour (first and other coefficients), opacity, scale, rotation. */
enum { SEEP_SPLAT_GROUPS = 6, SEEP_SPLAT_STATISTICS = 3 };

struct seep_splat_tensors {
    struct seep_caching_allocator *allocator;
    size_t n; /* Gaussians */
    struct {
        struct seep_caching_block *parameter, *gradient, *first, *second;
    } groups[SEEP_SPLAT_GROUPS];
    struct seep_caching_block *statistics[SEEP_SPLAT_STATISTICS];
};

/* Bytes of a Gaussian in group `which`. */
size_t seep_splat_group_bytes(unsigned which);

/* A tensor of n rows. 0, -SEEP_ENOMEM, what the driver failed with. */
SEEP_MUST_CHECK int seep_splat_tensor(struct seep_splat_tensors *t, size_t n, size_t row_bytes,
                                      struct seep_caching_block **out);
void seep_splat_tensor_free(struct seep_splat_tensors *t, struct seep_caching_block **block);

/* n Gaussians without gradients. Free with _fini(), after a failure too. */
SEEP_MUST_CHECK int seep_splat_tensors_init(struct seep_splat_tensors *t,
                                            struct seep_caching_allocator *allocator, size_t n);
void seep_splat_tensors_fini(struct seep_splat_tensors *t);

/* Gradients of all groups; they are freed after the optimizer's step (set_to_none). */
SEEP_MUST_CHECK int seep_splat_tensors_make_gradients(struct seep_splat_tensors *t);
void seep_splat_tensors_drop_gradients(struct seep_splat_tensors *t);

/* n_more rows, selected from the present ones, are joined to each tensor, one group after the
 * other: first and second moments, which are replaced at once, then the parameter. The old
 * parameters and their gradients are alive until all groups are done; the new ones have no
 * gradients. Statistics begin anew. */
SEEP_MUST_CHECK int seep_splat_tensors_cat(struct seep_splat_tensors *t, size_t n_more);

/* Only n_left rows stay, copied into new tensors in the same order. */
SEEP_MUST_CHECK int seep_splat_tensors_prune(struct seep_splat_tensors *t, size_t n_left);

/* The tensor of opacities and its moments are replaced by new ones of the same size. */
SEEP_MUST_CHECK int seep_splat_tensors_reset_opacity(struct seep_splat_tensors *t);

#endif
