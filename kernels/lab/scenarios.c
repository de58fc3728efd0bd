#include "kernels/lab/scenario.h"

const struct seep_scenario *const seep_scenarios[] = {
    &seep_pointgroup, &seep_minkowski, &seep_maskrcnn, &seep_splat, &seep_featdepth, NULL,
};
