/* How PyTorch's allocator of devices is told to work, by variables of the environment. */
#ifndef SEEP_PRELOAD_LIFE_TORCH_SETTINGS_H
#define SEEP_PRELOAD_LIFE_TORCH_SETTINGS_H

#include <stdint.h>

/* Returns bits of enum seep_allocator_settings, by the environment as it is now. */
uint32_t seep_torch_settings(void);

/* Those of one list of settings, "key:value,key:value". */
uint32_t seep_torch_settings_in(const char *list);

#endif
