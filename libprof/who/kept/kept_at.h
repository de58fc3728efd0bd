/* The lines that keep what a finding's line allocated: where the user's own code stores it into its
 * holder. They are read from the sources, if these are what ran. Unclear cases are left out. */
#ifndef SEEP_LIBPROF_WHO_KEPT_KEPT_AT_H
#define SEEP_LIBPROF_WHO_KEPT_KEPT_AT_H

#include <jansson.h>

#include "libprof/source/python_stores.h"
#include "libprof/who/kept/job_sources.h"
#include "libprof/who/merge/holders_read.h"

enum { SEEP_KEPT_MAX_LINES = 3 };

/* The schema's kept_at, for an answer of seep_line_holders_of() and the sites whose memory it is
 * about: a new reference, JSON's null if not known; NULL without memory. */
json_t *seep_kept_at_json(struct seep_job_sources *job, const json_t *answer, const uint32_t *sites,
                          size_t n_sites);

/* A statement of a file of the job's, as a frame of a report with its text: a new reference, or
 * NULL without memory. */
json_t *seep_kept_line_json(const struct seep_job_sources *job, const struct seep_source_file *in,
                            uint32_t statement);

/* The lines that pass on what a finding's line made, where native code took a reference and never
 * gave it back: one of these calls may have. They are read from the sources, if these are what
 * ran. */

/* The schema's passed_at, for an answer as in kept_at.h, and the stack of one of the sites: a new
 * reference, JSON's null if not known; NULL without memory. */
json_t *seep_passed_at_json(struct seep_job_sources *job, const json_t *answer, uint32_t stack);

/* The names on a path to kept memory under which source code stores something there. */

enum { SEEP_KEPT_MAX_NAMES = 8 };

/* A variable or an attribute. Texts are borrowed from the path. */
struct seep_kept_name {
    enum seep_kept_in in;
    const char *name;
    const char *owner;  /* a class, a function, a module; "" unknown */
    const char *module; /* of a global: its full name */
    const char *file;   /* of a local: the file of its function; "" unknown */
    bool fills;         /* it names a container that is filled entry by entry, */
    bool by_index;      /* and whose length does not grow by a store under an index */
};

/* The names up to the holder, the innermost first. `path`: as in a report. Pure. */
size_t seep_kept_names(const json_t *path, struct seep_kept_name names[SEEP_KEPT_MAX_NAMES]);

#endif
