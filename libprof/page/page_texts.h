/* The texts of a page, each once, by number. They are kept as the JSON that they become: most are
 * the names of sites, and a short text as a value of its own takes a hundred bytes. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_TEXTS_H
#define SEEP_LIBPROF_PAGE_PAGE_TEXTS_H

#include "libprof/base/hash_index.h"

#include <jansson.h>

/* All zero: empty. */
struct seep_page_texts {
    char *json; /* with a comma after each */
    size_t n_bytes, json_capacity;
    size_t *ends; /* of each, after its comma */
    size_t n, ends_capacity;
    struct seep_hash_index index;
};

/* The number of a text, which is added where it is new; SEEP_HASH_NONE without memory, or where it
 * is no string. */
uint32_t seep_page_texts_number(struct seep_page_texts *texts, const json_t *text);

/* The text of that number: a new reference, NULL if there is none, or without memory. */
json_t *seep_page_texts_at(const struct seep_page_texts *texts, json_int_t number);

/* Writes them as an array. `put` returns 0 or -1. Returns 0 or -SEEP_EIO. */
SEEP_MUST_CHECK int seep_page_texts_write(const struct seep_page_texts *texts,
                                          json_dump_callback_t put, void *context);
void seep_page_texts_fini(struct seep_page_texts *texts);

#endif
