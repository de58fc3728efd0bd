/* What the made-up scene shows: a checkered table, three balls and a ring, as Gaussians. */
#ifndef SEEP_KERNELS_SPLAT_THINGS_H
#define SEEP_KERNELS_SPLAT_THINGS_H

#include "kernels/splat/splat_host.h"

#define SEEP_PI 3.14159265358979323846

/* As the rasteriser takes them, and the colours that their coefficients were made of. */
struct seep_things {
    struct seep_splat_host host;
    uint8_t (*colors)[3]; /* [n] */
};

/* n Gaussians, >= 1, at places drawn from `seed`. 0, -SEEP_ENOMEM. Free with _fini(), after a
 * failure too. */
SEEP_MUST_CHECK int seep_things_init(struct seep_things *things, size_t n, uint64_t seed);
void seep_things_fini(struct seep_things *things);

/* How far apart they lie on the surfaces, about. */
double seep_things_spacing(const struct seep_things *things);

#endif
