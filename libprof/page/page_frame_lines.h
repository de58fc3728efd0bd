/* The line of source of each frame that a page has. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_FRAME_LINES_H
#define SEEP_LIBPROF_PAGE_PAGE_FRAME_LINES_H

#include "libprof/page/page_tables.h"

/* Adds the column `source` to the frames in the tables: the number of the text of each one's line,
 * without what it is indented by; −1 where no file of that time, opened by page_source.h, has it.
 */
void seep_page_add_frame_lines(struct seep_page_tables *tables, const char *cwd,
                               double before_unix_s);

#endif
