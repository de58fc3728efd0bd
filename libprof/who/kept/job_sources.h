/* The sources of a job's own Python code, if they are what ran: last changed before the job began,
 * and with each function where the profile saw it. */
#ifndef SEEP_LIBPROF_WHO_KEPT_JOB_SOURCES_H
#define SEEP_LIBPROF_WHO_KEPT_JOB_SOURCES_H

#include "libprof/code/code.h"
#include "libprof/source/source_files.h"

struct seep_job_sources {
    const struct seep_code *code;
    struct seep_source_files files; /* by string of the dictionary */
    bool *is_main;                  /* by index of that: the file is a script that ran; NULL: not
                                     * open */
    bool may_open, opened;
};

/* `may_open`: files may be opened; else there are no sources. Opens nothing yet. */
void seep_job_sources_init(struct seep_job_sources *job, const struct seep_code *code,
                           bool may_open);
void seep_job_sources_fini(struct seep_job_sources *job);

/* Opens them at the first call. Returns 0 or -SEEP_ENOMEM. Allocates: *job. */
SEEP_MUST_CHECK int seep_job_sources_open(struct seep_job_sources *job);

#endif
