/* Parts of a page's data, one file each. All return a new reference, NULL without memory. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_PARTS_H
#define SEEP_LIBPROF_PAGE_PAGE_PARTS_H

#include "libprof/page/page_tables.h"

enum { SEEP_EXCERPT_AROUND = 3 };

/* The lines around those that findings are about, from the job's sources: [{file, line, first,
 * lines: [text, …]}] for the frames and `kept_at` of a report's findings, each line once, if
 * page_source.h opens the file. */
json_t *seep_page_excerpts(const json_t *report);

/* Adds the column `source` to the frames in the tables: the number of the text of each frame's
 * line, without its indentation; −1 if page_source.h opens no file of that time with it. */
void seep_page_add_frame_lines(struct seep_page_tables *tables, const char *cwd,
                               double before_unix_s);

/* Layouts of devices: the report's, with the arrays `segments` {address, bytes, site, cache, small,
 * tensors} and `tensors` {gap, bytes, site}. `tensors` of a segment says how many of them it has; a
 * gap begins at the end of the previous tensor in the segment, or at the segment's start; sites are
 * numbers of ids, −1 for none. */
json_t *seep_page_layouts(const json_t *report);

/* Adds the ids of all sites that are in layouts to `named`, as keys. */
void seep_page_name_layout_sites(const json_t *report, json_t *named, bool *failed);

/* Of a report of a digest: sets `digest`, the report's, with its cells as columns {node,
 * local_rank, ranks, measures: {NAME: {sum, most}}}, and takes out what a digest does not know: RSS
 * over time, and the list of processes, of which the report has only the outermost. Leaves pages of
 * other reports as they are. */
void seep_page_add_many(json_t *page, const json_t *report, bool *failed);

#define SEEP_PAGE_LIGHT 1e-4 /* of a space: less is invisible in a picture of it */

/* Whether both the peak of a site and all that it allocated are below that share of its space's. */
bool seep_page_is_light(const json_t *report, const json_t *site);

/* seep_page_sites_in: the sites that are in the page one by one. seep_page_small_ones: those that
 * are in it only as sums, that is light ones that allocate seldom and that no finding names; none
 * if `all` is wanted. */
json_t *seep_page_sites_in(const json_t *report, bool all);
json_t *seep_page_small_ones(const json_t *report, bool all);

/* [step, bytes, …] of the sites' sum, each as the difference from the previous one, because the
 * differences are shorter numbers. Keeps at most `most` points, evenly spread, the last among
 * them. */
json_t *seep_page_series(const json_t *const *sites, size_t n, size_t most);

/* A column for each number of the listed sites. `space`, `role` and `stack` are numbers in the
 * tables, `look_at` is a frame's number, `processes` a text's, and `series` is made by
 * seep_page_series(). A light site has few points. */
json_t *seep_page_sites(const json_t *report, const json_t *list, struct seep_page_tables *tables);

/* Columns of the sums of small sites: a row for each space and box (page_boxes.h). `stack` is the
 * caller's, −1 for none; `sites` is their number. */
json_t *seep_page_small_sites(const json_t *report, const json_t *small,
                              struct seep_page_tables *tables);

/* The same for pairs of two runs: `pairs` is their number, and each side has what it keeps, its
 * peak and its growth. The peak of a pair, and of a space, is the higher one of both runs. */
json_t *seep_page_small_pairs(const json_t *report, const json_t *base, const json_t *small,
                              struct seep_page_tables *tables);
double seep_page_pair_peak(const json_t *pair);
double seep_page_space_peak(const json_t *report, const json_t *base, const char *space);

#endif
