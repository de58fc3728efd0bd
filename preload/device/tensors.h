/* What PyTorch's allocators say of their blocks: the space tensor:N of each device. */
#ifndef SEEP_PRELOAD_DEVICE_TENSORS_H
#define SEEP_PRELOAD_DEVICE_TENSORS_H

#include "libprof/record/os.h"

/* A child of a process that has used a device lets go of tensors that are its parent's, and can
 * make none: what is reported in it is not recorded. */
void seep_tensors_after_fork(void);

#endif
