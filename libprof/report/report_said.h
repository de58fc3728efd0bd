/* Coverage has a sentence for each thing that was not seen. It says what is missing and, if
 * possible, what to do about it. */
#ifndef SEEP_LIBPROF_REPORT_REPORT_SAID_H
#define SEEP_LIBPROF_REPORT_REPORT_SAID_H

#include "libprof/report/report_json.h"

struct seep_said {
    const struct seep_report_pieces *pieces;
    json_t *list;
    bool failed; /* for lack of memory */
};

enum { SEEP_SAID_MOST = 16 }; /* sentences of one kind; the rest are counted in one more */

void seep_said_add(struct seep_said *said, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "and 3 more have no profile", if n is above SEEP_SAID_MOST. */
void seep_said_more(struct seep_said *said, size_t n, const char *what);

/* "pid 12", "pid 12 and 3 more" */
const char *seep_said_pids(uint32_t first, size_t n, char text[64]);

/* Devices whose tensors were not all seen. */
void seep_said_tensors(struct seep_said *said);

#endif
