/* What to do about holders of memory: holder_advice.def. Pure. Includes nothing of the
 * project's. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_HOLDER_ADVICE_H
#define SEEP_LIBPROF_WORDS_FINDINGS_HOLDER_ADVICE_H

#include <stdbool.h>

/* Whether a path to held memory has something of this type or name on it. */
typedef bool seep_holder_has_fn(const void *way, const char *word);

/* The advice of the first row of which the path has everything; NULL if no row fits. */
const char *seep_holder_advice(const void *way, seep_holder_has_fn *has_type,
                               seep_holder_has_fn *has_name);

#endif
