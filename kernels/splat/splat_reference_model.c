#include "kernels/splat/splat_reference_model.h"

#include <stdlib.h>

int seep_reference_model_init(struct seep_reference_model *m, size_t n, int sh_degree,
                              int sh_stride)
{
    size_t room = n ? n : 1;

    *m = (struct seep_reference_model){.n = n, .sh_degree = sh_degree, .sh_stride = sh_stride};
    m->means = calloc(room, sizeof *m->means);
    m->scales = calloc(room, sizeof *m->scales);
    m->rotations = calloc(room, sizeof *m->rotations);
    m->opacities = calloc(room, sizeof *m->opacities);
    m->sh = calloc(room * (size_t)sh_stride, 3 * sizeof *m->sh);
    return m->means && m->scales && m->rotations && m->opacities && m->sh ? 0 : -SEEP_ENOMEM;
}

static void widen(double *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (double)from[i];
}

int seep_reference_model_from(struct seep_reference_model *m, const struct seep_splat_model *from)
{
    int status = seep_reference_model_init(m, from->n, from->sh_degree, from->sh_stride);

    if (status || from->n == 0)
        return status;
    widen(m->means[0], from->means[0], 3 * m->n);
    widen(m->scales[0], from->scales[0], 3 * m->n);
    widen(m->rotations[0], from->rotations[0], 4 * m->n);
    widen(m->opacities, from->opacities, m->n);
    widen(m->sh, from->sh, 3 * m->n * (size_t)m->sh_stride);
    return 0;
}

void seep_reference_model_free(struct seep_reference_model *m)
{
    free(m->means);
    free(m->scales);
    free(m->rotations);
    free(m->opacities);
    free(m->sh);
    *m = (struct seep_reference_model){0};
}
