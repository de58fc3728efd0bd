/* The words of findings: a title that says what happens, and what to do. */
#ifndef SEEP_LIBPROF_PATTERNS_PATTERN_WORDS_H
#define SEEP_LIBPROF_PATTERNS_PATTERN_WORDS_H

#include "libprof/code/code.h"
#include "libprof/patterns/finding.h"

/* Sets title and advice, once the rest of the finding is known. A library's line is named as such,
 * after what was seen to keep its memory. Looks up symbols. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_finding_set_words(const struct seep_code *code,
                                           struct seep_finding *finding);

#endif
