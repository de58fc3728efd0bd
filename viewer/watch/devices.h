/* Device memory that the job uses as the driver reports it, including context and code. A process
 * of `seep run`'s asks the driver, so that neither the job nor `seep run` waits for it, and
 * writes the figures into the profiles of the processes that use devices. */
#ifndef SEEP_VIEWER_WATCH_DEVICES_H
#define SEEP_VIEWER_WATCH_DEVICES_H

#include "viewer/job_folder.h"

struct seep_devices {
    const struct seep_job_folder *folder; /* NULL: the driver is not asked */
    pid_t asker;                          /* 0: not started yet; −1: it has ended */
};

/* Starts the asker once a process of the job has used a device. */
void seep_devices_look(struct seep_devices *d);

/* A child of `seep run` has ended. True where it was the asker. */
bool seep_devices_reaped(struct seep_devices *d, pid_t pid);

/* The job has ended. Reaps the asker. */
void seep_devices_close(struct seep_devices *d);

#endif
