#include "libprof/words/parts.h"

const char *seep_part_name(enum seep_part part)
{
    static const char *const names[SEEP_N_PARTS] = {
#define SEEP_PART(id, name) name,
#include "libprof/words/parts.def"
#undef SEEP_PART
    };

    return names[part];
}
