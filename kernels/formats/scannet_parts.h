/* What the files of the ScanNet reader and writer share. */
#ifndef SEEP_KERNELS_SCANNET_PARTS_H
#define SEEP_KERNELS_SCANNET_PARTS_H

#include "libprof/error.h"

#include <stddef.h>
#include <stdint.h>

#define SEEP_SCANNET_MESH          "_vh_clean_2.ply"
#define SEEP_SCANNET_LABELS        "_vh_clean_2.labels.ply"
#define SEEP_SCANNET_SEGMENTS      "_vh_clean_2.0.010000.segs.json"
#define SEEP_SCANNET_OBJECTS       ".aggregation.json"
#define SEEP_SCANNET_OTHER_OBJECTS "_vh_clean.aggregation.json"

/* The object of each vertex.
 *   segments  the bytes of segs.json, objects those of aggregation.json
 *   instances [n] out, −1: none
 * 0, -SEEP_EFORMAT (also where segs.json is of another number of vertices), -SEEP_ENOMEM; the error
 * says which of the two files is meant. */
SEEP_MUST_CHECK int seep_scannet_objects(const void *segments, size_t n_segments,
                                         const void *objects, size_t n_objects, size_t n,
                                         int32_t *instances, size_t *n_instances,
                                         struct seep_error *err);

#endif
