/* libprof's entry: from folders of profiles to a report. */
#ifndef SEEP_LIBPROF_ANALYSIS_H
#define SEEP_LIBPROF_ANALYSIS_H

#include "libprof/base/json_stream.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seep_digest;
struct seep_profile;
struct seep_job;

struct seep_analysis_options {
    bool all_sites;         /* every site, not only those of at least 0.1 % of their space's peak */
    bool series;            /* also levels of sites and processes over steps and time */
    bool brief;             /* no sites but those that findings are about */
    bool layouts;           /* also each block on a device at its peak and when memory ran out */
    uint32_t pid;           /* only this process and those that it started; 0: all */
    const char *roles_file; /* further rules on roles (see roles.toml), or NULL */
};

/* Reads every profile in the folders, finished, running or cut short, as one job, and makes its
 * report (docs/report.schema.json). A folder of folders stands for them (read/part_folders.h). The
 * report's coverage says what could not be read. Names of digests (digest/digest.h) may be given as
 * well: then the report is that of all of them merged.
 *   opts    NULL: defaults
 *   *report out, a new reference: json_decref() it
 * Returns 0; -SEEP_EINVAL if n_dirs == 0; -SEEP_EIO if no folder can be read; -SEEP_ENODATA if no
 * profile in them is readable, or none is of opts->pid; the errors of seep_part_rules_load() and of
 * seep_digest_read(); -SEEP_ENOMEM. Threads: safe on distinct folders. Untrusted files are safe;
 * native symbols are read from the files on disk that they name, if those are regular ones with the
 * recorded build id. */
SEEP_MUST_CHECK int seep_analyse(const char *const *dirs, size_t n_dirs,
                                 const struct seep_analysis_options *opts, json_t **report,
                                 struct seep_error *err);

/* The same without the sites of all in memory: calls use(context, report, sites) as
 * report/report_json.h says, and returns what that returned where nothing failed before. Such a
 * `use` says in *err why it failed. */
SEEP_MUST_CHECK int seep_analyse_streamed(const char *const *dirs, size_t n_dirs,
                                          const struct seep_analysis_options *opts,
                                          seep_json_stream_user *use, void *context,
                                          struct seep_error *err);

/* The digest of the profiles of one folder, itself and not folders in it: *digest is initialised
 * and empty. Errors as above. */
SEEP_MUST_CHECK int seep_analyse_digest(const char *dir, const struct seep_analysis_options *opts,
                                        struct seep_digest *digest, struct seep_error *err);

/* The same for profiles in memory (seep_profile_from_bytes) and a job table or NULL. Takes them
 * over, even on failure. Accesses nothing outside: neither /proc nor symbols of files. */
SEEP_MUST_CHECK int seep_analyse_profiles(struct seep_profile **profiles, size_t n,
                                          struct seep_job *job,
                                          const struct seep_analysis_options *opts, json_t **report,
                                          struct seep_error *err);

#endif
