/* The lines that keep what a finding's line made: where the user's own code puts it into what holds
 * it. They are read from the sources, as long as these are what ran; what is not clear is not said.
 */
#ifndef SEEP_LIBPROF_HOLDERS_KEPT_AT_H
#define SEEP_LIBPROF_HOLDERS_KEPT_AT_H

#include "libprof/code/stack_lines.h"
#include "libprof/model/model.h"
#include "libprof/source/source_files.h"

#include <jansson.h>

enum { SEEP_KEPT_MAX_LINES = 3 };

struct seep_kept_at {
    const struct seep_model *m;
    const struct seep_stack_lines *frames;
    struct seep_source_files files;
    bool *is_main; /* by string of the dictionary: the file of the script that ran */
    bool may_look, opened;
};

/* `may_look`: into files. Nothing is opened before a line is asked for. */
void seep_kept_at_init(struct seep_kept_at *kept, const struct seep_model *m,
                       const struct seep_stack_lines *frames, bool may_look);
void seep_kept_at_fini(struct seep_kept_at *kept);

/* What the schema calls kept_at, of an answer as seep_line_holders_of() gives it, and of the sites
 * whose memory that is: a new reference, JSON's null where it is not known; NULL without memory. */
json_t *seep_kept_at_json(struct seep_kept_at *kept, const json_t *answer, const uint32_t *sites,
                          size_t n_sites);

#endif
