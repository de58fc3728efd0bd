/* Which settings make PyTorch's allocator reserve less of a device. */
#ifndef SEEP_LIBPROF_MEASURE_ALLOCATOR_SETTINGS_H
#define SEEP_LIBPROF_MEASURE_ALLOCATOR_SETTINGS_H

#include <stdbool.h>

/* Whether these settings (bits of enum seep_allocator_settings) already keep idle memory from being
 * reserved. */
bool seep_allocator_is_cured(unsigned settings);

/* What else to do, given the settings that are already on. */
const char *seep_allocator_advice(unsigned settings);

#endif
