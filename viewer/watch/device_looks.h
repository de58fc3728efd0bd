/* What was in use of devices, look by look, in a process's profile. */
#ifndef SEEP_VIEWER_WATCH_DEVICE_LOOKS_H
#define SEEP_VIEWER_WATCH_DEVICE_LOOKS_H

#include "libprof/format/device_format.h"

/* Enters a look. Of those at a device in one period the first one's time stays and the last one's
 * bytes: rows in between are not without any. Where there is no room, every other look at each
 * device is left out first; who reads meanwhile may meet one twice. Only one writes. What the file
 * held there before is not believed.
 */
void seep_device_looks_add(struct seep_device_notes *notes, const struct seep_device_look *look);

#endif
