/* What the job uses of devices, as their driver tells it, context and code included: asked by a
 * process of the launcher's, so that neither the job nor the launcher waits for the driver, and
 * written into the profiles of those who use them. */
#ifndef SEEP_VIEWER_WATCH_DEVICES_H
#define SEEP_VIEWER_WATCH_DEVICES_H

#include "viewer/job_folder.h"

struct seep_devices {
    const struct seep_job_folder *folder; /* NULL: nobody asks */
    pid_t asker;                          /* 0: nobody does so far; −1: it has ended */
};

/* Starts the asker once a process of the job has used a device. */
void seep_devices_look(struct seep_devices *d);

/* A child of the launcher's has ended. True where it was the asker. */
bool seep_devices_reaped(struct seep_devices *d, pid_t pid);

/* The job has ended. Reaps the asker. */
void seep_devices_close(struct seep_devices *d);

#endif
