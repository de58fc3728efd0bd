/* MinkowskiEngine's coordinate manager, on the host: for each sparse tensor a map from coordinates
 * to rows, until the manager is cleared. One that all steps share grows (MinkowskiEngine#224). */
#ifndef SEEP_KERNELS_COORDINATE_MANAGER_H
#define SEEP_KERNELS_COORDINATE_MANAGER_H

#include "libprof/base/error.h"

#include <stddef.h>

struct seep_coordinate_map;

/* Begins as zeros. */
struct seep_coordinate_manager {
    struct seep_coordinate_map *newest;
    size_t bytes; /* of all maps */
};

/* Makes the map of a tensor of n rows.
 *   coordinates  [n][4]: place in the batch, x, y, z; whole numbers
 * 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_coordinate_manager_insert(struct seep_coordinate_manager *manager,
                                                   const float (*coordinates)[4], size_t n);

void seep_coordinate_manager_clear(struct seep_coordinate_manager *manager);

#endif
