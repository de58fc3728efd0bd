/* How much of each device was in use, look by look, in a process's profile. */
#ifndef SEEP_VIEWER_WATCH_DEVICE_LOOKS_H
#define SEEP_VIEWER_WATCH_DEVICE_LOOKS_H

#include "libprof/format/device_format.h"

/* Adds a look. Looks at one device in the same period are merged: the first one's time, the last
 * one's bytes, so that no row of the period lacks one. Where there is no room, drops every other
 * look at each device first; a concurrent reader may then see one twice. One writer only. What the
 * file held there before is not trusted. */
void seep_device_looks_add(struct seep_device_notes *notes, const struct seep_device_look *look);

#endif
