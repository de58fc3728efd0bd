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

/* Programs and libraries whose allocator is not libc's (report_allocators.c). */
void seep_said_allocators(struct seep_said *said);

/* Devices whose tensors were not all seen (report_tensors.c). */
void seep_said_tensors(struct seep_said *said);

/* Memory of devices that no allocator accounts for (report_runtime.c). */
void seep_said_runtime(struct seep_said *said);

/* Processes that could not record, and programs that a preload cannot enter
 * (report_troubles.c). */
void seep_said_troubles(struct seep_said *said);

#endif
