/* What the files that fill a digest share. */
#ifndef SEEP_LIBPROF_DIGEST_FILL_FILL_PARTS_H
#define SEEP_LIBPROF_DIGEST_FILL_FILL_PARTS_H

#include "libprof/code/code.h"
#include "libprof/digest/digest.h"
#include "libprof/model/live_level.h"
#include "libprof/patterns/finding.h"

#include <jansson.h>

struct seep_digest_fill {
    struct seep_digest *d;
    const struct seep_code *code;
    const struct seep_findings *findings;
    const json_t *report;
    uint64_t *growth; /* [n_processes] of leaks and retentions, in thousandths of bytes a step */
    uint64_t *collective;    /* [n_processes] the sum of the peaks of lines in collectives */
    struct seep_level level; /* scratch */
};

/* The process by name, with a value. */
struct seep_digest_who seep_digest_fill_who(struct seep_digest_fill *f, uint32_t process,
                                            uint64_t value);

/* enum seep_digest_role: a trainer that is a rank of several is one. */
uint8_t seep_digest_fill_role(const struct seep_model_process *p);

/* Adds a row of one process with a value, by its kind and what it is about. `course` and `found`
 * may be NULL. */
void seep_digest_fill_row(struct seep_digest_fill *f, struct seep_digest_key key, uint32_t process,
                          uint64_t value, const uint64_t *course,
                          const struct seep_digest_found *found);

/* The text of a frame of the report. */
uint32_t seep_digest_fill_frame(struct seep_digest_fill *f, const json_t *frame);

void seep_digest_fill_collectives(struct seep_digest_fill *f); /* sets `collective` */
void seep_digest_fill_sites(struct seep_digest_fill *f);
void seep_digest_fill_findings(struct seep_digest_fill *f);
void seep_digest_fill_processes(struct seep_digest_fill *f);
void seep_digest_fill_cells(struct seep_digest_fill *f);

/* ---- courses (fill_course.c) ------------------------------------------------------------- */

/* Bytes times steps. */
struct seep_digest_area {
    unsigned __int128 cells[SEEP_DIGEST_COURSE];
};

/* The least shift with which the course has room for the steps. */
uint32_t seep_digest_shift_of(uint32_t n_steps);

/* So much was held at the ends of steps [from, to]; steps below 1 and above n_steps do not count.
 */
void seep_digest_area_add(const struct seep_digest_fill *f, struct seep_digest_area *area,
                          int64_t from, int64_t to, uint64_t bytes);

void seep_digest_area_course(const struct seep_digest_area *area,
                             uint64_t course[SEEP_DIGEST_COURSE]);

/* The course of a level. */
void seep_digest_level_course(const struct seep_digest_fill *f, const struct seep_level *level,
                              uint64_t course[SEEP_DIGEST_COURSE]);

#endif
