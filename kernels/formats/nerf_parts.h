/* What the files of the NeRF reader and writer share; for nobody else but their tests. */
#ifndef SEEP_KERNELS_NERF_PARTS_H
#define SEEP_KERNELS_NERF_PARTS_H

#include "kernels/formats/nerf_types.h"
#include "libprof/base/error.h"

#include <stdio.h>

/* What nerf.h says is refused of a scene: -code. `file`: for the error. */
SEEP_MUST_CHECK int seep_nerf_check(const struct seep_nerf *scene, const char *file, int code,
                                    struct seep_error *err);

/* The file's text to a stream, whose error flag says whether that went well. -SEEP_EINVAL before
 * anything is written, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_nerf_print(FILE *out, const struct seep_nerf *scene);

#endif
