/* Parts of a page's data, a file each. What they return is a new reference,
 * NULL without memory. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_PARTS_H
#define SEEP_LIBPROF_PAGE_PAGE_PARTS_H

#include "libprof/page/page_tables.h"

enum { SEEP_EXCERPT_AROUND = 3 };

/* The lines around those that findings are about, from the job's sources: [{file, line, first,
 * lines: [text, …]}] for the frames and `kept_at` of a report's findings, each line once, where
 * page_source.h opens their files. */
json_t *seep_page_excerpts(const json_t *report);

/* Adds the column `source` to the frames in the tables: the number of the text of each one's line,
 * without what it is indented by; −1 where no file of that time, opened by page_source.h, has it.
 */
void seep_page_add_frame_lines(struct seep_page_tables *tables, const char *cwd,
                               double before_unix_s);

/* Where blocks lay on devices: the report's layouts with `segments` {address, bytes, site, cache,
 * small, tensors} and `tensors` {gap, bytes, site}, arrays: `tensors` of a segment says how many of
 * them are its; a gap is from the end of the tensor before in the segment, or from its start; sites
 * are numbers of ids, −1 for none. */
json_t *seep_page_layouts(const json_t *report);

/* Adds the ids of all sites that are in layouts to `named`, as keys. */
void seep_page_name_layout_sites(const json_t *report, json_t *named, bool *failed);

#define SEEP_PAGE_LIGHT 1e-4 /* of a space: less is not to be seen in a picture of it */

/* Whether neither the peak of a site nor all that it allocated is that much of its space's. */
bool seep_page_is_light(const json_t *report, const json_t *site);

/* The sites of the report that are in the page one by one, or those that are in it as sums: light
 * ones that allocate seldom and that no finding names, and none where `all` is wanted. */
json_t *seep_page_sites_in(const json_t *report, bool all);
json_t *seep_page_small_ones(const json_t *report, bool all);

/* [step, bytes, …] of sites together, each as the difference from the one before, for differences
 * of what lies in order are short numbers. Of more than `most` points as many are kept, evenly
 * spread, the last among them. */
json_t *seep_page_series(const json_t *const *sites, size_t n, size_t most);

/* A column for each number of a site of the list; `space`, `role` and `stack` are numbers in the
 * tables, `look_at` that of a frame, `processes` that of a text, `series` as seep_page_series() has
 * it. A light site has few points. */
json_t *seep_page_sites(const json_t *report, const json_t *list, struct seep_page_tables *tables);

/* Columns of the sums of small sites: a row for each space and box (page_boxes.h). `stack` is that
 * of the caller, −1 for none; `sites` says how many they are. */
json_t *seep_page_small_sites(const json_t *report, const json_t *small,
                              struct seep_page_tables *tables);

/* The same of pairs of two runs, with `pairs` of them and what each side keeps, its peak and its
 * growth. A pair's own peak, and that of a space, are the higher one of both runs. */
json_t *seep_page_small_pairs(const json_t *report, const json_t *base, const json_t *small,
                              struct seep_page_tables *tables);
double seep_page_pair_peak(const json_t *pair);
double seep_page_space_peak(const json_t *report, const json_t *base, const char *space);

#endif
