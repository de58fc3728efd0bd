/* A frame of the dictionary as JSON, as reports and what is read of copies show it. */
#ifndef SEEP_LIBPROF_CODE_FRAME_JSON_H
#define SEEP_LIBPROF_CODE_FRAME_JSON_H

#include "libprof/code/symbols.h"

#include <jansson.h>

/* The list of frames that one stands for, innermost first: several where calls were inlined. A new
 * reference, NULL without memory. */
json_t *seep_frames_json(const struct seep_dictionary *d, const struct seep_symbols *symbols,
                         uint32_t frame);

/* The one of these that names a line: frames[named_by], by itself. A new reference, NULL without
 * memory. */
json_t *seep_line_frame_json(const json_t *frames, size_t named_by);

#endif
