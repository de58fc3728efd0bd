/* Memory that a process needs to work at all, at whatever line it first does so. */
#ifndef SEEP_LIBPROF_VERDICT_WORK_AREAS_H
#define SEEP_LIBPROF_VERDICT_WORK_AREAS_H

#include "libprof/model/model.h"

/* In how many processes the site occurs. */
uint32_t seep_site_processes(const struct seep_model *m, const struct seep_model_site *site);

/* Whether the site mapped one area in each of its processes, straight from the system: the first
 * arena of an interpreter, the buffer of a BLAS. Data comes through malloc, or in many arenas. */
bool seep_is_work_area(const struct seep_model *m, uint32_t site);

/* Whether a frame is CPython's own code, or Python code. */
bool seep_is_frame_of_python(const struct seep_dictionary *d, uint32_t frame);

/* Whether the site's maps are arenas of Python's small-object allocator. Which line asks for the
 * next one is chance: any that makes an object when the others are full; what lies in it is kept by
 * others. */
bool seep_is_arena(const struct seep_model *m, uint32_t site);

#endif
