/* What judgements of programs are called in messages: of `seep run`, the doctor and reports. */
#ifndef SEEP_LIBPROF_PROGRAM_PROGRAM_ENTRY_WORDS_H
#define SEEP_LIBPROF_PROGRAM_PROGRAM_ENTRY_WORDS_H

#include <stddef.h>

#include "libprof/runtime/program/program_entry.h"

/* "is a static program, where LD_PRELOAD has no effect", and what to do about it. ""
 * for SEEP_ENTRY_OK. Never NULL. */
const char *seep_entry_words(enum seep_entry entry);
const char *seep_entry_advice(enum seep_entry entry);

/* The same with the details of one program. Returns `text`. */
const char *seep_entry_describe(const struct seep_program_entry *entry, char *text,
                                size_t capacity);

#endif
