#include "libprof/words/parts.h"

const char *seep_part_name(enum seep_part part)
{
    static const char *const names[SEEP_N_PARTS] = {
        "other",     "dataset", "loader",     "camera",     "model",   "backward",
        "optimizer", "logging", "checkpoint", "collective", "library",
    };

    return names[part];
}
