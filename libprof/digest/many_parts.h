/* What the files that make a report of a digest share. */
#ifndef SEEP_LIBPROF_DIGEST_MANY_PARTS_H
#define SEEP_LIBPROF_DIGEST_MANY_PARTS_H

#include "libprof/digest/digest_words.h"

#include <jansson.h>

enum { SEEP_DIGEST_PLACE_TEXT = 160 };

/* "rank 3 (process 1017 on node2)". Returns `text`. */
const char *seep_digest_place(const struct seep_digest *d, const struct seep_digest_who *who,
                              char text[SEEP_DIGEST_PLACE_TEXT]);

/* "ranks", "loader workers", … */
const char *seep_digest_role_words(uint8_t role, uint64_t n);

/* How many processes of a role there are. */
uint64_t seep_digest_count(const struct seep_digest *d, uint8_t role);

/* The level at the cells of a course, summed over processes, for the cells that were reached.
 * Returns how many there are; sets *step to the last step of each. */
size_t seep_digest_levels(const struct seep_digest *d, const uint64_t *course, double *bytes,
                          uint64_t *step);

/* {value, low, high} of such levels; zeros if they are too few. */
struct seep_slope seep_digest_slope(const struct seep_digest *d, const uint64_t *course);

/* Rows with one subject and one `about`, all roles and buckets together. */
struct seep_digest_group {
    enum seep_digest_kind kind;
    uint32_t subject, about;
    uint64_t n, sum;
    uint64_t n_by_role[SEEP_N_DIGEST_ROLES];
    uint64_t buckets[SEEP_DIGEST_BUCKETS]; /* processes by bucket */
    struct seep_digest_who max;
    struct seep_digest_found found; /* of findings; its example is that of `max` */
    uint64_t course[SEEP_DIGEST_COURSE];
};

/* *groups: [*n], free() it. The order is that of a written digest. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_digest_groups(const struct seep_digest *d, enum seep_digest_kind kind,
                                       struct seep_digest_group **groups, size_t *n);

/* New references, NULL without memory. `sites`: groups of sites in the order of the report, where
 * sites[i] is S(i + 1). */
json_t *seep_digest_findings_json(const struct seep_digest *d,
                                  const struct seep_digest_group *sites, size_t n_sites);
json_t *seep_digest_left_out_json(const struct seep_digest *d);
json_t *seep_digest_many_json(const struct seep_digest *d);     /* the field `digest` */
json_t *seep_digest_histogram_json(const uint64_t *buckets);    /* [{at_least, n}] */
json_t *seep_digest_not_seen_json(const struct seep_digest *d); /* sentences */

/* "3, 17 to 19 and 40": ranks without a profile, the first few of them. Returns how many there are
 * in all. */
enum { SEEP_DIGEST_RANKS_TEXT = 200 };

#endif
