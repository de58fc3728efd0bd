/* Kinds of memory limits, as sentences say them. Pure. Includes nothing of the project's. */
#ifndef SEEP_LIBPROF_WORDS_LIMIT_KIND_H
#define SEEP_LIBPROF_WORDS_LIMIT_KIND_H

/* The words after a limit's bytes: "RAM" for "ram"; the kind itself if it has no other words. */
const char *seep_limit_words(const char *kind);

#endif
