#include "kernels/lab/scenarios/splat_tensors.h"

/* Floats a Gaussian, in the order of the optimizer's groups. */
static const size_t group_floats[SEEP_SPLAT_GROUPS] = {3, 3, 45, 1, 3, 4};
enum { OPACITY = 3 };

size_t seep_splat_group_bytes(unsigned which)
{
    return group_floats[which] * sizeof(float);
}

/* Reports name this line, so it has a frame of its own. */
__attribute__((noinline)) int seep_splat_tensor(struct seep_splat_tensors *t, size_t n,
                                                size_t row_bytes, struct seep_caching_block **out)
{
    int rc = seep_caching_alloc(t->allocator, n * row_bytes, out);

    /* Not a tail call. */
    if (rc)
        *out = NULL;
    return rc;
}

void seep_splat_tensor_free(struct seep_splat_tensors *t, struct seep_caching_block **block)
{
    if (*block)
        seep_caching_free(t->allocator, *block);
    *block = NULL;
}

static int make_statistics(struct seep_splat_tensors *t)
{
    int rc = 0;

    for (int i = 0; i < SEEP_SPLAT_STATISTICS && !rc; i++) {
        struct seep_caching_block *made;
        rc = seep_splat_tensor(t, t->n, sizeof(float), &made);
        seep_splat_tensor_free(t, &t->statistics[i]);
        t->statistics[i] = made;
    }
    return rc;
}

int seep_splat_tensors_init(struct seep_splat_tensors *t, struct seep_caching_allocator *allocator,
                            size_t n)
{
    int rc = 0;

    *t = (struct seep_splat_tensors){.allocator = allocator, .n = n};
    for (unsigned g = 0; g < SEEP_SPLAT_GROUPS && !rc; g++) {
        size_t bytes = seep_splat_group_bytes(g);
        rc = seep_splat_tensor(t, n, bytes, &t->groups[g].parameter);
        if (!rc)
            rc = seep_splat_tensor(t, n, bytes, &t->groups[g].first);
        if (!rc)
            rc = seep_splat_tensor(t, n, bytes, &t->groups[g].second);
    }
    return rc ? rc : make_statistics(t);
}

void seep_splat_tensors_fini(struct seep_splat_tensors *t)
{
    for (unsigned g = 0; g < SEEP_SPLAT_GROUPS; g++) {
        seep_splat_tensor_free(t, &t->groups[g].parameter);
        seep_splat_tensor_free(t, &t->groups[g].gradient);
        seep_splat_tensor_free(t, &t->groups[g].first);
        seep_splat_tensor_free(t, &t->groups[g].second);
    }
    for (int i = 0; i < SEEP_SPLAT_STATISTICS; i++)
        seep_splat_tensor_free(t, &t->statistics[i]);
}

int seep_splat_tensors_make_gradients(struct seep_splat_tensors *t)
{
    int rc = 0;

    for (unsigned g = 0; g < SEEP_SPLAT_GROUPS && !rc; g++)
        rc = seep_splat_tensor(t, t->n, seep_splat_group_bytes(g), &t->groups[g].gradient);
    return rc;
}

void seep_splat_tensors_drop_gradients(struct seep_splat_tensors *t)
{
    for (unsigned g = 0; g < SEEP_SPLAT_GROUPS; g++)
        seep_splat_tensor_free(t, &t->groups[g].gradient);
}

/* What replaces the tensor lives beside it for a moment. */
static int replace(struct seep_splat_tensors *t, size_t n, size_t row_bytes,
                   struct seep_caching_block **tensor)
{
    struct seep_caching_block *made;
    int rc = seep_splat_tensor(t, n, row_bytes, &made);

    if (rc)
        return rc;
    seep_splat_tensor_free(t, tensor);
    *tensor = made;
    return 0;
}

/* Moments are replaced at once; the old parameter stays, with its gradient, where the model still
 * names it. */
static int replace_group(struct seep_splat_tensors *t, unsigned which, size_t n,
                         struct seep_caching_block **old)
{
    size_t bytes = seep_splat_group_bytes(which);
    int rc = replace(t, n, bytes, &t->groups[which].first);

    if (!rc)
        rc = replace(t, n, bytes, &t->groups[which].second);
    *old = t->groups[which].parameter;
    t->groups[which].parameter = NULL;
    return rc ? rc : seep_splat_tensor(t, n, bytes, &t->groups[which].parameter);
}

/* All groups, and only then the model's names move on: until then old parameters are alive. */
static int replace_all(struct seep_splat_tensors *t, size_t n)
{
    struct seep_caching_block *old[SEEP_SPLAT_GROUPS] = {NULL};
    int rc = 0;

    for (unsigned g = 0; g < SEEP_SPLAT_GROUPS && !rc; g++)
        rc = replace_group(t, g, n, &old[g]);
    for (unsigned g = 0; g < SEEP_SPLAT_GROUPS; g++) {
        seep_splat_tensor_free(t, &old[g]);
        seep_splat_tensor_free(t, &t->groups[g].gradient);
    }
    if (rc)
        return rc;
    t->n = n;
    return make_statistics(t);
}

int seep_splat_tensors_cat(struct seep_splat_tensors *t, size_t n_more)
{
    struct seep_caching_block *chosen[SEEP_SPLAT_GROUPS] = {NULL};
    int rc = 0;

    /* All new rows first, then one group after the other. */
    for (unsigned g = 0; g < SEEP_SPLAT_GROUPS && !rc; g++)
        rc = seep_splat_tensor(t, n_more, seep_splat_group_bytes(g), &chosen[g]);
    if (!rc)
        rc = replace_all(t, t->n + n_more);
    for (unsigned g = 0; g < SEEP_SPLAT_GROUPS; g++)
        seep_splat_tensor_free(t, &chosen[g]);
    return rc;
}

int seep_splat_tensors_prune(struct seep_splat_tensors *t, size_t n_left)
{
    return replace_all(t, n_left);
}

int seep_splat_tensors_reset_opacity(struct seep_splat_tensors *t)
{
    struct seep_caching_block *old = NULL;
    int rc = replace_group(t, OPACITY, t->n, &old);

    seep_splat_tensor_free(t, &old);
    return rc;
}
