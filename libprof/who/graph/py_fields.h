/* Fields that C code keeps without an entry in the type's own table, but that users know by
 * name. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_FIELDS_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The `i`th known field of the type with this name (spelled as in the type), in a minor version:
 * where it is, and its index for seep_pyfield_name(). False: there are no more. */
bool seep_pyfield_of(const char *type, uint32_t minor, size_t i, int64_t *offset, size_t *index);

/* "" if it is not an index, or the user sees both objects as one. */
const char *seep_pyfield_name(size_t index);

#endif
