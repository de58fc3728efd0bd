/* The names in a written digest, and back. Pure. */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_WORDS_H
#define SEEP_LIBPROF_DIGEST_DIGEST_WORDS_H

#include "libprof/digest/digest.h"

enum seep_digest_role {
#define SEEP_PROCESS_ROLE(id, ...) SEEP_DIGEST_ROLE_##id,
#include "libprof/words/process_roles.def"
#undef SEEP_PROCESS_ROLE
    SEEP_N_DIGEST_ROLES
};

extern const char *const seep_digest_roles[SEEP_N_DIGEST_ROLES];
extern const char *const seep_digest_measures[SEEP_N_DIGEST_MEASURES];
extern const char *const seep_digest_numbers[SEEP_N_DIGEST_NUMBERS];
extern const char *const seep_digest_severities[SEEP_N_SEVERITIES];
extern const char *const seep_digest_parts[SEEP_N_PARTS];

struct seep_digest_kind_row {
    const char *name;
    bool has_buckets, has_course;
};

extern const struct seep_digest_kind_row seep_digest_kinds[SEEP_N_DIGEST_KINDS];

/* The place of `name`, which may be NULL, in list[n]; −1 if it is not there. */
int seep_digest_find(const char *const *list, size_t n, const char *name);

#endif
