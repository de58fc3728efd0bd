/* The settings from the environment (seep help run). */
#ifndef SEEP_PRELOAD_LIFE_RUN_SETTINGS_H
#define SEEP_PRELOAD_LIFE_RUN_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "libprof/runtime/regex/regex.h"

struct seep_run_settings {
    char dir[1024]; /* absolute; empty: record nothing */
    uint64_t max_bytes;
    uint64_t max_folder_bytes;
    uint64_t sample_bytes;
    double overhead_share;       /* of time; 0: no bound */
    uint64_t overhead_bytes;     /* of seep's own memory; 0: no bound */
    bool record_bystanders;      /* whole, from their start */
    bool no_devices;             /* SEEP_GPU=off */
    bool with_cupti;             /* SEEP_GPU=cupti */
    struct seep_regex step_nvtx; /* SEEP_STEP_NVTX; no codes: it is not set, or is no expression */
    char holders[2048];          /* SEEP_HOLDERS as it is: see preload/snapshot/snapshot_policy.h */
};

extern struct seep_run_settings seep_run_settings;

/* Reads them; `given` is the environment with which the program began: libc has not set its own
 * when the first constructor runs. `folder`: where to record, NULL: as SEEP_OUT says. */
void seep_run_settings_read(char *const *given, const char *folder);

/* A variable's value in the current environment; NULL: it is not set. */
const char *seep_run_settings_variable(const char *name);

#endif
