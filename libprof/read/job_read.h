/* Reads DIR/job.seepjob, the table of a job's processes (struct seep_job). */
#ifndef SEEP_LIBPROF_READ_JOB_READ_H
#define SEEP_LIBPROF_READ_JOB_READ_H

#include "libprof/base/error.h"
#include "libprof/format/profile_format.h"

/* *out: a private copy with every text closed and every count in range; what a truncated file lacks
 * is zero. Returns 0, -SEEP_EIO (also: there is none), -SEEP_EFORMAT, -SEEP_EVERSION, -SEEP_ENOMEM.
 * Allocates: *out; free() it. */
SEEP_MUST_CHECK int seep_job_read(const char *path, struct seep_job **out, struct seep_error *err);

/* The same from memory. */
SEEP_MUST_CHECK int seep_job_from_bytes(const void *bytes, uint64_t size, struct seep_job **out,
                                        struct seep_error *err);

#endif
