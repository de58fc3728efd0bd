/* A device of a report in words. */
#ifndef SEEP_LIBPROF_REPORT_READ_DEVICE_VIEW_H
#define SEEP_LIBPROF_REPORT_READ_DEVICE_VIEW_H

#include <jansson.h>

/* "GPU 0: tensors at most 1.0 GiB; PyTorch reserves 1.5 GiB; this job uses 2.0 GiB (at most 2.1
 * GiB) of 8.0 GiB": what is known of it. device: of a report's `devices`. Allocates the result;
 * NULL without memory. */
char *seep_device_text(const json_t *device);

#endif
