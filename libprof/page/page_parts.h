/* Parts of a page's data, one file each. All return a new reference, NULL without memory. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_PARTS_H
#define SEEP_LIBPROF_PAGE_PAGE_PARTS_H

#include "libprof/page/page_tables.h"
#include "libprof/report_read/site_pairs.h"

enum { SEEP_EXCERPT_AROUND = 3 };

/* The lines around those that findings are about, from the job's sources: [{file, line, first,
 * lines: [text, …]}] for the frames, `kept_at` and `passed_at` of a report's findings, each line
 * once, if page_source.c opens the file. */
json_t *seep_page_excerpts(const json_t *report);

/* Adds the column `source` to the frames in the tables: the number of the text of each frame's
 * line, without its indentation; −1 if page_source.c opens no file of that time with it. */
void seep_page_add_frame_lines(struct seep_page_tables *tables, const char *cwd,
                               double before_unix_s);

/* Layouts of devices: the report's, with the arrays `segments` {address, bytes, site, cache, small,
 * tensors} and `tensors` {gap, bytes, site}. `tensors` of a segment says how many of them it has; a
 * gap begins at the end of the previous tensor in the segment, or at the segment's start; sites are
 * numbers of ids, −1 for none. */
json_t *seep_page_layouts(const json_t *report);

/* Adds the ids of all sites that are in layouts to `named`, as keys. */
void seep_page_name_layout_sites(const json_t *report, json_t *named, bool *failed);

#define SEEP_PAGE_LIGHT 1e-4 /* of a space: less is invisible in a picture of it */

/* Whether both the peak of a site and all that it allocated are below that share of its space's. */
bool seep_page_is_light(const json_t *report, const json_t *site);

/* The change of a level at the end of a step. */
struct seep_page_change {
    json_int_t step, bytes;
};

/* All zero: empty; `list` is the owner's to free. */
struct seep_page_changes {
    struct seep_page_change *list;
    size_t n, capacity;
};

/* Adds those of a site's `series`. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_page_changes_add(struct seep_page_changes *changes, const json_t *series);

/* Sorts the changes of several sites; afterwards each step is there once. */
void seep_page_changes_merge(struct seep_page_changes *changes);

/* [step, bytes, …] of the level, each as the difference from the previous one, because the
 * differences are shorter numbers. Keeps at most `most` points, evenly spread, the last among
 * them. */
json_t *seep_page_changes_json(const struct seep_page_changes *changes, size_t most);

/* Adds a site to the columns, one for each number. `space`, `part` and `stack` are numbers in the
 * tables, `look_at` is a frame's number, `processes` a text's, and `series` is as above. A light
 * site has few points. */
void seep_page_add_site(struct seep_page_columns *columns, const json_t *report, const json_t *site,
                        struct seep_page_tables *tables, bool *failed);

/* Small sites on their way into boxes. */
struct seep_page_small_sites;
/* NULL without memory. */
struct seep_page_small_sites *seep_page_small_sites_create(struct seep_json_stream *stream);
void seep_page_small_sites_destroy(struct seep_page_small_sites *small);

/* Adds a site of the stream, at that place. It is not kept, but its frames are known by address.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_page_small_sites_add(struct seep_page_small_sites *small,
                                              const json_t *site, uint32_t at);

/* Columns of the sums of small sites: a row for each space and box (page_small.c). `stack` is the
 * caller's, −1 for none; `sites` is their number. */
void seep_page_small_sites_put(struct seep_page_small_sites *small, const json_t *report,
                               struct seep_page_columns *columns, struct seep_page_tables *tables,
                               bool *failed);

/* Columns of the small pairs of two runs, n numbers of pairs: `pairs` is how many, and each side
 * has what it keeps, its peak and its growth. The peak of a pair, and of a space, is the higher one
 * of both runs. */
void seep_page_small_pairs(const json_t *report, const json_t *base,
                           const struct seep_site_pairs *pairs, const uint32_t *small, size_t n,
                           struct seep_page_columns *columns, struct seep_page_tables *tables,
                           bool *failed);
double seep_page_pair_peak(const struct seep_site_pair *pair);
double seep_page_space_peak(const json_t *report, const json_t *base, const char *space);

#endif
