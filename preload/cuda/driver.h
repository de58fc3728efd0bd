/* Replacements of the driver's functions that give memory to map (expandable segments), wherever a
 * program gets their addresses from. */
#ifndef SEEP_PRELOAD_CUDA_DRIVER_H
#define SEEP_PRELOAD_CUDA_DRIVER_H

#include <stdbool.h>

/* Replaces *function by ours, if it is the driver's function of this name and one of those. */
void seep_driver_stand_in(const char *name, void **function);

/* The driver's own function and ours, as a pair; NULL in *real: it is not loaded. False: there are
 * not that many. */
bool seep_driver_pair(unsigned index, void **real, void **ours);

#endif
