/* The driver's functions that give memory to map (expandable segments), wherever a program has
 * their addresses from: these stand in front of them. */
#ifndef SEEP_PRELOAD_CUDA_DRIVER_H
#define SEEP_PRELOAD_CUDA_DRIVER_H

#include <stdbool.h>

/* Puts ours in the place of *function, if that is the driver's of this name and one of those. */
void seep_driver_stand_in(const char *name, void **function);

/* The pair of the driver's own function and ours; NULL in *real: it is not loaded. False: there are
 * not so many. */
bool seep_driver_pair(unsigned index, void **real, void **ours);

#endif
