/* The sources of a job's code, if they are still what ran. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_SOURCE_H
#define SEEP_LIBPROF_PAGE_PAGE_SOURCE_H

#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

enum { SEEP_SOURCE_MAX_BYTES = 4 << 20 }; /* of a file */

/* Opens the file that a report names, relative to the job's folder. NULL unless it is a regular
 * file with the name of a source that was last changed before that time, so that it is what ran.
 * Never blocks. The caller closes it. */
FILE *seep_page_source_open(const char *cwd, const char *name, double before_unix_s);

/* A line of `n` bytes as a page shows it: cleaned, cut, and without its newline. Changes `line`. A
 * new reference; NULL without memory. */
json_t *seep_page_source_line(char *line, ssize_t n);

#endif
