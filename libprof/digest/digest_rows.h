/* What a digest adds up: rows, the processes at the ends of distributions, cells and sets. Out of
 * memory sets `failed`. */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_ROWS_H
#define SEEP_LIBPROF_DIGEST_DIGEST_ROWS_H

#include "libprof/digest/digest.h"

/* The row of a key, made if there is none; NULL without memory. Valid until the next call. */
struct seep_digest_row *seep_digest_row(struct seep_digest *d, const struct seep_digest_key *key);

/* Adds to a row what `row` has, whose ids are this digest's; its course is in steps of `shift`.
 * `found` may be NULL. */
void seep_digest_add_row(struct seep_digest *d, const struct seep_digest_row *row,
                         const struct seep_digest_found *found, uint32_t shift);

/* Adds what findings have, but for the example. */
void seep_digest_add_found(const struct seep_digest *d, struct seep_digest_found *f,
                           const struct seep_digest_found *more);

/* Offers a process for an end of the distribution of `subject`. */
void seep_digest_add_top(struct seep_digest *d, uint8_t role, uint32_t subject, bool low,
                         const struct seep_digest_who *who);

/* Adds to a cell; its node is numbered by this digest's node_shift. */
void seep_digest_add_cell(struct seep_digest *d, const struct seep_digest_cell *cell);

/* Adds a number, or the id of a text, to a set of at most `most`. */
void seep_digest_add_number(struct seep_digest *d, struct seep_digest_set *set, uint64_t number,
                            size_t most);
void seep_digest_add_text(struct seep_digest *d, struct seep_digest_set *set, uint32_t text,
                          size_t most);

/* Merges one of the single numbers. */
void seep_digest_add_to(struct seep_digest *d, enum seep_digest_number number, uint64_t value);

/* Notes that there is a profile of a rank. */
void seep_digest_add_rank(struct seep_digest *d, uint64_t rank);

/* Makes room for a later step: the course of every row has steps of `shift` from now on. */
void seep_digest_widen(struct seep_digest *d, uint32_t shift);

/* The order of processes at the upper end: larger values first, then by rank, host and pid. */
int seep_digest_compare_who(const struct seep_digest *d, const struct seep_digest_who *a,
                            const struct seep_digest_who *b);

#endif
