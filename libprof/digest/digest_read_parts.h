/* What digest_read.c reads with. The first thing that is wrong is named in `wrong`; what is
 * returned after it means nothing. */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_READ_PARTS_H
#define SEEP_LIBPROF_DIGEST_DIGEST_READ_PARTS_H

#include "libprof/digest/digest.h"

#include <jansson.h>

struct seep_digest_reader {
    struct seep_digest *d;
    const json_t *json;
    const char *wrong; /* the key; NULL: nothing so far */
    uint32_t *frames;  /* [n_frames] texts */
    size_t n_frames;
    uint32_t *stacks; /* [n_stacks] index + 1 */
    size_t n_stacks;
};

/* Notes that the value of a key, a literal, is wrong. */
void seep_digest_wrong(struct seep_digest_reader *r, const char *key);

uint64_t seep_digest_take_count(struct seep_digest_reader *r, const json_t *value, const char *key,
                                uint64_t most);
uint64_t seep_digest_get_count(struct seep_digest_reader *r, const json_t *object, const char *key,
                               uint64_t most);

/* A text, cleaned, and cut to `bytes` with its NUL. */
uint32_t seep_digest_take_text(struct seep_digest_reader *r, const json_t *value, const char *key,
                               size_t bytes);

/* The place of a word in list[n]. */
uint8_t seep_digest_get_word(struct seep_digest_reader *r, const json_t *object, const char *key,
                             const char *const *list, size_t n);

/* The text of a measure of processes. */
uint32_t seep_digest_get_measure(struct seep_digest_reader *r, const json_t *object,
                                 const char *key);

/* A list of at most `most`; NULL if it is none. */
const json_t *seep_digest_get_list(struct seep_digest_reader *r, const json_t *object,
                                   const char *key, size_t most);

struct seep_digest_who seep_digest_take_who(struct seep_digest_reader *r, const json_t *value,
                                            const char *key);

/* Frames and stacks, which rows refer to. */
void seep_digest_read_names(struct seep_digest_reader *r);

void seep_digest_read_row(struct seep_digest_reader *r, enum seep_digest_kind kind,
                          const json_t *row);

#endif
