/* What the files of the ScanNet reader and writer share. */
#ifndef SEEP_KERNELS_SCANNET_PARTS_H
#define SEEP_KERNELS_SCANNET_PARTS_H

#include "kernels/formats/scannet_types.h"
#include "libprof/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define SEEP_SCANNET_MESH          "_vh_clean_2.ply"
#define SEEP_SCANNET_LABELS        "_vh_clean_2.labels.ply"
#define SEEP_SCANNET_SEGMENTS      "_vh_clean_2.0.010000.segs.json"
#define SEEP_SCANNET_OBJECTS       ".aggregation.json"
#define SEEP_SCANNET_OTHER_OBJECTS "_vh_clean.aggregation.json"

/* The largest scan of ScanNet has 0.6 M vertices: a mesh of 24 MB and 5 MB of segments. A made-up
 * room of SEEP_SCANNET_MAX_POINTS takes 180 and 34 MB. */
enum {
    SEEP_SCANNET_MAX_POINTS = 1 << 22,
    SEEP_SCANNET_MAX_MESH_BYTES = 256 << 20,
    SEEP_SCANNET_MAX_JSON_BYTES = 64 << 20,
};

/* The object of each vertex.
 *   segments  segs.json, objects aggregation.json
 *   instances [n] out, −1: none
 * 0, -SEEP_EFORMAT (also where segs.json is of another number of vertices), -SEEP_ENOMEM; the error
 * says which of the two files is meant. */
SEEP_MUST_CHECK int seep_scannet_objects(const struct seep_scannet_bytes *segments,
                                         const struct seep_scannet_bytes *objects, size_t n,
                                         int32_t *instances, size_t *n_instances,
                                         struct seep_error *err);

#endif
