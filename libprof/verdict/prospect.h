/* Will the growth end? What speaks for it, and what against. */
#ifndef SEEP_LIBPROF_VERDICT_PROSPECT_H
#define SEEP_LIBPROF_VERDICT_PROSPECT_H

#include "libprof/verdict/case.h"

/* The first reason of prospects.def that fits, by the signs of the case; all but the prospect are
 * set. Pure. */
enum seep_prospect seep_prospect_of(const struct seep_case *c, const struct seep_signs *signs);

bool seep_prospect_is_endless(enum seep_prospect p);
bool seep_prospect_is_open(enum seep_prospect p);

/* What to say about it, or about what would decide it; "" for nothing. */
const char *seep_prospect_text(enum seep_prospect p);

/* Whether a text is that of an open prospect. */
bool seep_prospect_is_open_text(const char *text);

#endif
