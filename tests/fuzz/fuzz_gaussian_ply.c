/* Any bytes as point_cloud.ply. Gaussians that are read are the same, to the bit, after being
 * written and read again. */
#include "kernels/formats/gaussian_ply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void compare(const void *a, const void *b, size_t n_floats)
{
    if (memcmp(a, b, n_floats * sizeof(float)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    struct seep_error err = {.text = ""};
    struct seep_gaussian_ply *one = NULL, *two = NULL;

    if (seep_gaussian_ply_from_bytes(data, size, &one, &err)) {
        if (!err.text[0] || one)
            abort();
        return 0;
    }
    const size_t n = one->n;
    const int n_sh = (one->sh_degree + 1) * (one->sh_degree + 1);
    if (!path[0])
        (void)snprintf(path, sizeof path, "/tmp/seep-fuzz-gaussians-%d.ply", (int)getpid());
    if (seep_gaussian_ply_write(path, n, one->sh_degree, n_sh, &one->parameters, &err) ||
        seep_gaussian_ply_read(path, &two, &err) || unlink(path))
        abort();
    if (two->n != n || two->sh_degree != one->sh_degree)
        abort();
    compare(one->parameters.means, two->parameters.means, 3 * n);
    compare(one->parameters.log_scales, two->parameters.log_scales, 3 * n);
    compare(one->parameters.rotations, two->parameters.rotations, 4 * n);
    compare(one->parameters.logits, two->parameters.logits, n);
    compare(one->parameters.sh, two->parameters.sh, 3 * (size_t)n_sh * n);
    seep_gaussian_ply_free(one);
    seep_gaussian_ply_free(two);
    return 0;
}
