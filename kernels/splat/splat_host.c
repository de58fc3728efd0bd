#include "kernels/splat/splat_host.h"

#include <stdlib.h>

int seep_splat_host_init(struct seep_splat_host *h, size_t n, int sh_degree)
{
    size_t room = n ? n : 1;
    int stride = (sh_degree + 1) * (sh_degree + 1);

    *h = (struct seep_splat_host){.means = calloc(room, sizeof *h->means),
                                  .scales = calloc(room, sizeof *h->scales),
                                  .rotations = calloc(room, sizeof *h->rotations),
                                  .opacities = calloc(room, sizeof *h->opacities),
                                  .sh = calloc(room * (size_t)stride, 3 * sizeof *h->sh)};
    h->model = (struct seep_splat_model){.n = n,
                                         .sh_degree = sh_degree,
                                         .sh_stride = stride,
                                         .means = (const float(*)[3])h->means,
                                         .scales = (const float(*)[3])h->scales,
                                         .rotations = (const float(*)[4])h->rotations,
                                         .opacities = h->opacities,
                                         .sh = h->sh};
    return h->means && h->scales && h->rotations && h->opacities && h->sh ? 0 : -SEEP_ENOMEM;
}

void seep_splat_host_fini(struct seep_splat_host *h)
{
    free(h->means);
    free(h->scales);
    free(h->rotations);
    free(h->opacities);
    free(h->sh);
}
