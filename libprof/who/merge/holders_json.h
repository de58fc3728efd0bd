/* Answers as report.json has them. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_JSON_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_JSON_H

#include "libprof/who/merge/holders_series.h"

/* What one process's snapshot says of a line. */
struct seep_holders_answer {
    const struct seep_holders_snapshot *of;
    const struct seep_holders_line *line;
};

/* All return new references, NULL without memory. */

/* answers[0, n) are of one line, one per process. Those of [from, to) agree, and theirs is the
 * answer. */
json_t *seep_holders_answer_json(const struct seep_holders_answer *answers, size_t n, size_t from,
                                 size_t to, const struct seep_holders_series *series);

/* What is reported of the job as a whole. */
json_t *seep_holders_job_json(const struct seep_holders_files *files,
                              const struct seep_holders_series *series);

#endif
