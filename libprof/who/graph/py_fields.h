/* Fields of objects that C code keeps without a name in the type's own table, but which a user
 * knows by one. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_FIELDS_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The `i`th known field of the type with this name (as the type has it), in a minor version: where
 * it is, and its index for seep_pyfield_name(). False: there are no more. */
bool seep_pyfield_of(const char *type, uint32_t minor, size_t i, int64_t *offset, size_t *index);

/* "" for what is no index. */
const char *seep_pyfield_name(size_t index);

#endif
