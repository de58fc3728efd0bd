/* Where the subcommands write their documents, and in which format. */
#ifndef SEEP_VIEWER_OUTPUT_H
#define SEEP_VIEWER_OUTPUT_H

#include "libprof/analysis.h"
#include "viewer/options/options.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Prints a document. Returns 0 or a negative SEEP_E…. */
typedef int seep_printer(const json_t *document, FILE *out, bool colour);

seep_printer seep_output_json; /* indented by one */

/* Prints a document whose list `sites` is empty in it, because these make it. Returns as above. */
typedef int seep_sites_printer(const json_t *document, struct seep_json_stream *sites, FILE *out);

struct seep_sites_format {
    const char *name;
    seep_sites_printer *print;
};

seep_sites_printer seep_output_json_streamed; /* as seep_output_json() */

/* Writes anything. Returns 0 or a negative SEEP_E…. */
typedef int seep_writer(void *what, FILE *out);

struct seep_output_format {
    const char *name;
    seep_printer *print;
};

/* The format of that name in a list that ends with a NULL name, or NULL after a complaint that
 * lists the known ones. */
const struct seep_output_format *seep_output_choose(const struct seep_output_format *list,
                                                    const struct seep_option_given *given);

/* The same of a list of other structures, of `each` bytes, that begin with their names. */
const void *seep_output_choose_of(const void *list, size_t each,
                                  const struct seep_option_given *given);

/* Writes to the file `path`, through a temporary file beside it that replaces it when complete
 * (anything but a regular file is written to directly); NULL: to standard output, which is closed.
 * Returns 0, or -SEEP_EIO or -SEEP_ENOMEM with *err. */
SEEP_MUST_CHECK int seep_output_write(seep_writer *write, void *what, const char *path,
                                      struct seep_error *err);

/* Prints a document in a folder that others may write to: anything of that name is replaced, and
 * never written to. Returns as above. */
SEEP_MUST_CHECK int seep_output_replace(const json_t *document, seep_printer *print,
                                        const char *path, mode_t mode, struct seep_error *err);

/* As seep_output_write(), with a complaint on failure. Return 0 or SEEP_EXIT_UNUSABLE. */
int seep_output(const json_t *document, seep_printer *print, const char *path);
int seep_output_by(seep_writer *write, void *what, const char *path);
int seep_output_sites(const json_t *document, struct seep_json_stream *sites,
                      seep_sites_printer *print, const char *path);

/* The name of a folder: the last component of its real path, so that "." has one, too; cleaned.
 * Allocates the result (free() it); NULL without memory. */
char *seep_output_name_of(const char *dir);

/* Prints the text of the report of `name`, a folder or digest, on standard error. */
void seep_output_summary(const json_t *report, const char *name);

/* The report of one folder or digest, or NULL after a complaint. */
json_t *seep_output_report_of(const char *dir, const struct seep_analysis_options *options);

/* Complains about an error of seep_analyse(). */
void seep_output_complain_analysis(const struct seep_error *err, const char *dir,
                                   const char *roles);

#endif
