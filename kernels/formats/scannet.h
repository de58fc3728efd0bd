/* A ScanNet scene (Dai et al., CVPR 2017), as it lies on disk:
 *   NAME_vh_clean_2.ply                       vertices: xyz f32, rgba u8
 *   NAME_vh_clean_2.labels.ply                the same vertices with `label` u16 (nyu40)
 *   NAME_vh_clean_2.0.010000.segs.json        segment of each vertex
 *   NAME.aggregation.json  (or NAME_vh_clean.aggregation.json)   segments of each object
 */
#ifndef SEEP_KERNELS_SCANNET_H
#define SEEP_KERNELS_SCANNET_H

#include "kernels/formats/scannet_types.h"
#include "libprof/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads scene `name` of `folder`: meshes of at most 256 MiB, JSON files of at most 64 MiB, whose
 * values take at most 512 MiB. Without its labels.ply (a test scan) all labels and instances are
 * −100; with it the other two files must be there too. 0, -SEEP_EIO, -SEEP_EFORMAT, -SEEP_EINVAL (a
 * path too long), -SEEP_ENOMEM. Threads: safe on distinct outputs. */
SEEP_MUST_CHECK int seep_scannet_read(const char *folder, const char *name,
                                      struct seep_scannet_scene **out, struct seep_error *err);
/* Its mesh alone, whether the other files are there or not: points as of a test scan. */
SEEP_MUST_CHECK int seep_scannet_read_mesh(const char *folder, const char *name,
                                           struct seep_scannet_scene **out, struct seep_error *err);
/* The same of bytes; labels whose bytes are NULL are not there. */
SEEP_MUST_CHECK int
seep_scannet_from_bytes(const struct seep_scannet_bytes files[SEEP_SCANNET_FILES],
                        struct seep_scannet_scene **out, struct seep_error *err);

/* A made-up room of n_points (1 … 2^22) vertices in the four files: floor, walls and boxes with
 * triangles between them, each box, each wall and the floor an object; one more box is an object of
 * none of the twenty classes, one is neither object nor class. The same seed gives the same bytes.
 * -SEEP_EINVAL, -SEEP_EIO, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_scannet_write_room(const char *folder, const char *name, size_t n_points,
                                            uint64_t seed, struct seep_error *err);
/* The same with all lengths `sides` times those of a usual room. */
SEEP_MUST_CHECK int seep_scannet_write_room_of(const char *folder, const char *name,
                                               size_t n_points, double sides, uint64_t seed,
                                               struct seep_error *err);
void seep_scannet_free(struct seep_scannet_scene *scene);

/* Names of the scenes in a folder (what stands before _vh_clean_2.ply), sorted; free() each and the
 * array. None is no error: *names may be NULL. -SEEP_EIO, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_scannet_list(const char *folder, char ***names, size_t *n,
                                      struct seep_error *err);

#ifdef __cplusplus
}
#endif
#endif
