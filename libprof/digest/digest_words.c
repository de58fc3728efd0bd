#include "libprof/digest/digest_words.h"

#include <string.h>

const char *const seep_digest_roles[SEEP_N_DIGEST_ROLES] = {
#define SEEP_PROCESS_ROLE(id, name) name,
#include "libprof/words/process_roles.def"
#undef SEEP_PROCESS_ROLE
};

const char *const seep_digest_measures[SEEP_N_DIGEST_MEASURES] = {
#define SEEP_DIGEST_MEASURE(id, name, ...) name,
#include "libprof/digest/digest_measures.def"
#undef SEEP_DIGEST_MEASURE
};

const char *const seep_digest_numbers[SEEP_N_DIGEST_NUMBERS] = {
#define SEEP_DIGEST_NUMBER(id, name, ...) name,
#include "libprof/digest/digest_numbers.def"
#undef SEEP_DIGEST_NUMBER
};

const char *const seep_digest_severities[SEEP_N_SEVERITIES] = {
#define SEEP_SEVERITY(id, name) name,
#include "libprof/words/severities.def"
#undef SEEP_SEVERITY
};

const char *const seep_digest_parts[SEEP_N_PARTS] = {
#define SEEP_PART(id, name) name,
#include "libprof/words/parts.def"
#undef SEEP_PART
};

const struct seep_digest_kind_row seep_digest_kinds[SEEP_N_DIGEST_KINDS] = {
#define SEEP_DIGEST_KIND(id, name, has_buckets, has_course, words) {name, has_buckets, has_course},
#include "libprof/digest/digest_kinds.def"
#undef SEEP_DIGEST_KIND
};

int seep_digest_find(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; name && i < n; i++)
        if (strcmp(list[i], name) == 0)
            return (int)i;
    return -1;
}
