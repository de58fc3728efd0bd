/* Kinds of memory limits, as sentences say them. Pure. Includes nothing of the project's. */
#ifndef SEEP_LIBPROF_WORDS_LIMIT_KIND_H
#define SEEP_LIBPROF_WORDS_LIMIT_KIND_H

/* What comes behind a limit's bytes: "RAM" of "ram"; the kind itself where it has no other words.
 */
const char *seep_limit_words(const char *kind);

#endif
