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

/* A column for each number of a site; `space`, `role` and `stack` are numbers in the tables,
 * `look_at` that of a frame, `processes` that of a text, `series` [step, bytes, …] as differences,
 * each from the one before. A site is light where neither its peak nor all it allocated is a
 * ten-thousandth of its space's: it is left out where findings do not name it, unless `all`, and
 * has few points. */
json_t *seep_page_sites(const json_t *report, bool all, struct seep_page_tables *tables);

/* {space: {sites, allocations, …}} of those that were left out, as sums. */
json_t *seep_page_other_sites(const json_t *report, bool all);

#endif
