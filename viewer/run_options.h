/* The options of `seep run` and their variables. */
#ifndef SEEP_VIEWER_RUN_OPTIONS_H
#define SEEP_VIEWER_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct seep_run_options {
    const char *out;     /* NULL: seep chooses a name */
    const char *roles;   /* NULL: the shipped ones */
    const char *holders; /* "auto", "off" or steps */
    const char *gpu;     /* "auto", "runtime", "cupti" or "off" */
    bool holder_keys;    /* texts of dict keys are shown */
    bool quiet;
    bool top; /* beside the job, on this terminal */
    bool no_report;
    bool merge;            /* over MPI, at the end */
    double merge_within_s; /* 0: not told */
    bool python_allocators;
    uint64_t sample_bytes;      /* 0: every allocation */
    const char *overhead;       /* "3%", "64MiB", "3%,64MiB" or "off"; NULL: the shim's default */
    uint64_t max_profile_bytes; /* 0: the shim's default */
    uint64_t max_folder_bytes;
    uint64_t memory_limit_bytes; /* of the target machine; 0: this machine's */
    bool full_helpers;           /* record them whole */
    const char *step_nvtx;       /* an expression; NULL: none */
    char *const *command;
};

/* Returns −1 to go on, or the exit status: help was asked for, or something is wrong, which has
 * been said. Texts are the caller's argv and environment. */
int seep_run_options_read(int argc, char **argv, struct seep_run_options *o);

#endif
