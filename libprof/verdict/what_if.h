/* What would have helped, as far as the events of a PyTorch snapshot can be tried again. */
#ifndef SEEP_LIBPROF_VERDICT_WHAT_IF_H
#define SEEP_LIBPROF_VERDICT_WHAT_IF_H

#include "libprof/verdict/finding_list.h"

enum { SEEP_WHAT_IF_WORDS = 48 };

/* The change, as a setting is written; "kept nothing" of a line, "" of none. Returns text. */
const char *seep_what_if_words(const struct seep_what_if *its, char text[SEEP_WHAT_IF_WORDS]);

/* Adds it to the evidence of what it may help: a GPU whose cache is large, or that had no room, and
 * lines that keep memory of it. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_what_ifs_note(const struct seep_code *code, struct seep_findings *f);

#endif
