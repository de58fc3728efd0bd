/* What is the same in two runs of a job, as a number: of spaces, functions and files, without
 * lines, folders and addresses. */
#ifndef SEEP_LIBPROF_REPORT_READ_PAIR_KEY_H
#define SEEP_LIBPROF_REPORT_READ_PAIR_KEY_H

#include <jansson.h>
#include <stdint.h>

/* FNV-1a, in two lanes of 64 bits: enough that different keys do not collide by chance. */
struct seep_pair_key {
    uint64_t a, b;
};

struct seep_pair_key seep_pair_key_begin(const char *space);
void seep_pair_key_add(struct seep_pair_key *key, const char *text);
void seep_pair_key_add_frame(struct seep_pair_key *key, const json_t *frame);

#endif
