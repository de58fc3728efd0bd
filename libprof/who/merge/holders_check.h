/* Takes values of an untrusted JSON document one by one. What is wrong is noted once for all of
 * them. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_CHECK_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct seep_holders_check {
    bool wrong;  /* something is missing, or has the wrong type */
    bool failed; /* no memory */
};

enum { SEEP_HOLDERS_TEXT_BYTES = 2048, SEEP_HOLDERS_WORD_BYTES = 24 };

/* A whole number ≥ 0; 0 if it is wrong. */
uint64_t seep_take_count(struct seep_holders_check *c, const json_t *from, const char *key);

/* The same, for a value that may be missing or null: then `missing`. */
uint64_t seep_take_count_or(struct seep_holders_check *c, const json_t *from, const char *key,
                            uint64_t missing);
bool seep_take_bool(struct seep_holders_check *c, const json_t *from, const char *key);

/* New references: a text without control characters, cut to SEEP_HOLDERS_TEXT_BYTES; a word of
 * lower-case letters and hyphens. JSON's null if it is wrong, NULL without memory. */
json_t *seep_take_text(struct seep_holders_check *c, const json_t *from, const char *key);
json_t *seep_take_text_or_null(struct seep_holders_check *c, const json_t *from, const char *key);
json_t *seep_take_word(struct seep_holders_check *c, const json_t *from, const char *key);

#endif
