#include "kernels/harness/scenario.h"

const struct seep_scenario *const seep_scenarios[] = {
    &seep_minkowski,
    &seep_featdepth,
    NULL,
};
