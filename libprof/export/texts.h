/* Texts that a format refers to by number: each once, in order of first use. */
#ifndef SEEP_LIBPROF_EXPORT_TEXTS_H
#define SEEP_LIBPROF_EXPORT_TEXTS_H

#include "libprof/base/hash_index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seep_texts {
    char **list; /* copies */
    size_t n, capacity;
    struct seep_hash_index index;
    bool failed; /* for lack of memory: numbers are 0 from then on */
};

/* The number of a text, from 0 on. Allocates. */
uint32_t seep_texts_number(struct seep_texts *texts, const char *text);

/* The same for the pair "text\nwith"; neither contains a newline. */
uint32_t seep_texts_pair(struct seep_texts *texts, const char *text, const char *with);

void seep_texts_fini(struct seep_texts *texts);

#endif
