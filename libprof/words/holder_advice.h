/* What to do about who keeps memory: holder_advice.def. Pure. Includes nothing of the project's. */
#ifndef SEEP_LIBPROF_WORDS_HOLDER_ADVICE_H
#define SEEP_LIBPROF_WORDS_HOLDER_ADVICE_H

/* Of a way to kept memory, as reports print it; NULL where the way is of no usual kind. */
const char *seep_holder_advice(const char *way);

#endif
