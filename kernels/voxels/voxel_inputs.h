/* The inputs that voxel kernels are timed on. */
#ifndef SEEP_KERNELS_VOXEL_INPUTS_H
#define SEEP_KERNELS_VOXEL_INPUTS_H

#include "libprof/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { SEEP_VOXEL_INPUTS = 8 };

/* The file of a data folder that has a sweep of a LiDAR. */
#define SEEP_VOXEL_SWEEP_FILE "lidar-pc.npz"

struct seep_voxel_input {
    const char *name;
    float size; /* edge of a voxel, metres */
    size_t n;
    float (*points)[3];
    int32_t *batch;
};

/* Input `index`: the sweep at 5 and at 20 cm and four turned ones in a batch; then 10^6 points in
 * the middle of random cells of boxes of several sizes. Without a folder (NULL) n is 0 for the
 * sweeps. Returns 0, -SEEP_ENOMEM, or the error of seep_npz_read(). */
SEEP_MUST_CHECK int seep_voxel_input_open(unsigned index, const char *data_folder,
                                          struct seep_voxel_input *out, struct seep_error *why);
void seep_voxel_input_close(struct seep_voxel_input *input);

#endif
