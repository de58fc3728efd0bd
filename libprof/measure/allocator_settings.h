/* What to set so that PyTorch's allocator keeps less of a device than it needs. */
#ifndef SEEP_LIBPROF_MEASURE_ALLOCATOR_SETTINGS_H
#define SEEP_LIBPROF_MEASURE_ALLOCATOR_SETTINGS_H

#include <stdbool.h>

/* Whether it is told to keep nothing that lies idle: settings are bits of enum
 * seep_allocator_settings. */
bool seep_allocator_is_cured(unsigned settings);

/* What is left to do beside the settings that are on already. */
const char *seep_allocator_advice(unsigned settings);

#endif
