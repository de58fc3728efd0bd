/* A frame of the dictionary as JSON, for reports and for what was read from copies. */
#ifndef SEEP_LIBPROF_CODE_FRAME_JSON_H
#define SEEP_LIBPROF_CODE_FRAME_JSON_H

#include "libprof/code/symbols.h"

#include <jansson.h>

/* The list of frames that one dictionary frame stands for, innermost first: several if calls were
 * inlined. A new reference, NULL without memory. */
json_t *seep_frames_json(const struct seep_dictionary *d, const struct seep_symbols *symbols,
                         uint32_t frame);

/* The one of these that names a line: frames[named_by] as an object of its own. A new reference,
 * NULL without memory. */
json_t *seep_line_frame_json(const json_t *frames, size_t named_by);

#endif
