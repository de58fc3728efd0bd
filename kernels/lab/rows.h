/* The table of `seep-lab verify`: what was expected, what came out, PASS or FAIL. */
#ifndef SEEP_KERNELS_ROWS_H
#define SEEP_KERNELS_ROWS_H

#include <jansson.h>
#include <stdbool.h>

struct seep_rows {
    const char *scenario;
    json_t *rows;      /* [{ "scenario", "name", "expected", "measured", "pass" }] */
    unsigned n_failed; /* those of `rows` that do not pass */
    bool lost;         /* a line could not be kept: no memory */
};

/* Adds a line; `expected` is plain text, `measured` is formatted. Texts may be of any length and
 * bytes: what is not UTF-8 becomes '?'. */
void seep_rows_add(struct seep_rows *rows, bool pass, const char *name, const char *expected,
                   const char *measured, ...) __attribute__((format(printf, 5, 6)));

/* value within ± share of target; unit is "MB" (bytes are given, 10^6 shown), or any other text. */
void seep_rows_add_near(struct seep_rows *rows, const char *name, double value, double target,
                        double share, const char *unit);

/* Reading reports: numbers and texts at a path such as "spaces.host.peak_bytes"; NAN, NULL where
 * absent. */
double seep_rows_number(const json_t *object, const char *path);
const char *seep_rows_text(const json_t *object, const char *path);

/* Whether `function` asked for the blocks of a report's site, itself or through an allocating
 * function (one with "alloc" in its name and the like). */
bool seep_rows_is_made_by(const json_t *site, const char *function, const char *space);

/* The most that such sites had, in bytes, the peaks of several added up; NAN where there is none.
 */
double seep_rows_peak_of(const json_t *report, const char *function, const char *space);

#endif
