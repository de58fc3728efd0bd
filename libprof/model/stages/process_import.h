/* What a profile's header says of its process, checked and copied, so that nobody reads the header
 * itself. */
#ifndef SEEP_LIBPROF_MODEL_STAGES_PROCESS_IMPORT_H
#define SEEP_LIBPROF_MODEL_STAGES_PROCESS_IMPORT_H

#include "libprof/model/model.h"

/* Fills *p, zero before, from an open profile, which it takes over, also on failure, and from
 * `job`, its folder's table or NULL. Times stay those of the file. Returns 0 or -SEEP_ENOMEM; the
 * caller calls seep_process_fini() in either case. */
SEEP_MUST_CHECK int seep_process_import(struct seep_model_process *p, struct seep_profile *profile,
                                        uint32_t folder, const struct seep_job *job);

/* The same for a process that was only counted: job->processes[entry] of a job without profiles. */
SEEP_MUST_CHECK int seep_process_import_counted(struct seep_model_process *p, uint32_t folder,
                                                const struct seep_job *job, uint32_t entry);

/* Converts copied times to the job's clock: the file's + clock_ns. */
void seep_process_set_clock(struct seep_model_process *p, int64_t clock_ns);

/* Copies what was live in each space at the timeline's rows; needs a loaded profile. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_process_import_levels(struct seep_model_process *p);

struct seep_model;
struct seep_resolver;

/* The model's site + 1 for the index of a site in a loaded profile or those that it inherits, once
 * they have been added; 0 if unknown. */
uint32_t seep_process_site(struct seep_model *m, struct seep_resolver *resolver,
                           const struct seep_model_process *p, uint32_t index);

/* Which line's memory it had inherited and wrote to, by its samples; its profile is loaded, and the
 * sites have been added. */
void seep_process_import_written(struct seep_model *m, struct seep_resolver *resolver,
                                 uint32_t process);

/* Adds to the model where blocks lay on devices, by the newest whole layout of each device and
 * reason; its profile is loaded, and its sites have been added. What makes no sense is left out,
 * and counted as such. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_process_import_layouts(struct seep_model *m,
                                                struct seep_resolver *resolver, uint32_t process);

/* Adds the requests for memory that were refused, of devices and of the host; its profile is
 * loaded. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_process_import_ooms(struct seep_model *m, struct seep_resolver *resolver,
                                             uint32_t process);

/* Adds what its devices would have reserved, had something been different (process_what_ifs.c); its
 * profile is loaded. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_process_import_what_ifs(struct seep_model *m,
                                                 struct seep_resolver *resolver, uint32_t process);

#endif
