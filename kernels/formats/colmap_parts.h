/* What the files of the COLMAP reader and writer share; for nobody else but their tests. */
#ifndef SEEP_KERNELS_COLMAP_PARTS_H
#define SEEP_KERNELS_COLMAP_PARTS_H

#include "kernels/formats/byte_file.h"
#include "kernels/formats/colmap_types.h"
#include "libprof/base/error.h"

#include <stdio.h>

enum seep_colmap_part {
    SEEP_COLMAP_CAMERAS,
    SEEP_COLMAP_IMAGES,
    SEEP_COLMAP_POINTS,
    SEEP_COLMAP_PARTS,
};

struct seep_colmap_source {
    const char *file; /* for errors */
    struct seep_bytes bytes;
    struct seep_error *err;
};

/* Each takes what it allocates into *model, also when it fails. What they store is not checked yet.
 */
SEEP_MUST_CHECK int seep_colmap_parse_binary(struct seep_colmap_source *source,
                                             enum seep_colmap_part part, struct seep_colmap *model);
SEEP_MUST_CHECK int seep_colmap_parse_text(struct seep_colmap_source *source,
                                           enum seep_colmap_part part, struct seep_colmap *model);

/* A checked model's part to a stream, whose error flag says whether that went well. */
void seep_colmap_print_binary(FILE *out, enum seep_colmap_part part,
                              const struct seep_colmap *model);
void seep_colmap_print_text(FILE *out, enum seep_colmap_part part, const struct seep_colmap *model);

/* What colmap.h says is refused of a model: -code, or -SEEP_ENOMEM. `files`: for errors. */
SEEP_MUST_CHECK int seep_colmap_check(const struct seep_colmap *model,
                                      const char *const files[SEEP_COLMAP_PARTS], int code,
                                      struct seep_error *err);

SEEP_MUST_CHECK int seep_colmap_error(const struct seep_colmap_source *source, int code,
                                      const char *text);

/* "PINHOLE" and so on, and how many parameters such a camera has; NULL and 0 for unknown ones. */
const char *seep_colmap_model_name(int32_t model);
unsigned seep_colmap_model_params(int32_t model);

#endif
