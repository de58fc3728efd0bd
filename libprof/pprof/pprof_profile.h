/* A heap profile in pprof's format as a profile of seep's: what was live at an instant, by stack.
 * JAX writes it (jax.profiler.save_device_memory_profile()), and so do Go and tcmalloc. */
#ifndef SEEP_LIBPROF_PPROF_PPROF_PROFILE_H
#define SEEP_LIBPROF_PPROF_PPROF_PROFILE_H

#include "libprof/torch/profile_write.h"

/* Whether a file is one, plain or packed by gzip, by what is in it. */
bool seep_pprof_is_at(const char *path);

/* Makes a profile of it. `number`, from 1, tells processes of a job apart. Returns 0; -SEEP_EFORMAT
 * if it is none, or says nothing of live memory; -SEEP_EIO; -SEEP_ENOMEM. Any bytes are safe. */
SEEP_MUST_CHECK int seep_pprof_profile_read(const char *path, uint32_t number,
                                            struct seep_made_profile *profile,
                                            struct seep_error *err);

/* The same of bytes. */
SEEP_MUST_CHECK int seep_pprof_profile_make(const uint8_t *bytes, size_t n, const char *name,
                                            uint32_t number, struct seep_made_profile *profile,
                                            struct seep_error *err);

#endif
