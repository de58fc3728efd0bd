/* Texts of a process that are shown later, when it may be gone: names of attributes, variables,
 * classes and functions, each by an address that stands for it. */
#ifndef SEEP_LIBPROF_WHO_SURVEY_NAMES_H
#define SEEP_LIBPROF_WHO_SURVEY_NAMES_H

#include "libprof/base/hash_index.h"

enum { SEEP_NAMES_LONGEST = 256 }; /* of one text, with the zero byte that ends it */

struct seep_names {
    struct seep_name {
        uint64_t key;
        uint32_t at; /* place in `texts` */
    } * list;        /* [n] */
    char *texts;     /* [n_bytes] the first is an empty one */
    size_t n, capacity, n_bytes, text_capacity;
    struct seep_hash_index by_key;
};

void seep_names_fini(struct seep_names *names);

/* The number of a key's text; 0: it has none. */
uint32_t seep_names_find(const struct seep_names *names, uint64_t key);

/* Adds a text, cut to SEEP_NAMES_LONGEST, for a key that has none. Returns its number; 0: there is
 * no room for more. Allocates. */
uint32_t seep_names_add(struct seep_names *names, uint64_t key, const char *text);

/* The same, with the text of another number. */
uint32_t seep_names_add_same(struct seep_names *names, uint64_t key, uint32_t number);

/* The text and the key of a number; "" and 0 for 0. The text lives until the next one is added. */
const char *seep_names_text(const struct seep_names *names, uint32_t number);
uint64_t seep_names_key(const struct seep_names *names, uint32_t number);

#endif
