/* What to do about who keeps memory: holder_advice.def. Pure. Includes nothing of the project's. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_HOLDER_ADVICE_H
#define SEEP_LIBPROF_WORDS_FINDINGS_HOLDER_ADVICE_H

#include <stdbool.h>

/* Whether a way to kept memory has something of this type or name on it. */
typedef bool seep_holder_has_fn(const void *way, const char *word);

/* What to do, by the first row that the way has all of; NULL where it is of no usual kind. */
const char *seep_holder_advice(const void *way, seep_holder_has_fn *has_type,
                               seep_holder_has_fn *has_name);

#endif
