/* What a PLY file holds. */
#ifndef SEEP_KERNELS_PLY_TYPES_H
#define SEEP_KERNELS_PLY_TYPES_H

#include <stdbool.h>
#include <stddef.h>

enum seep_ply_type {
    SEEP_PLY_I8,
    SEEP_PLY_U8,
    SEEP_PLY_I16,
    SEEP_PLY_U16,
    SEEP_PLY_I32,
    SEEP_PLY_U32,
    SEEP_PLY_F32,
    SEEP_PLY_F64,
};
enum seep_ply_encoding { SEEP_PLY_ASCII, SEEP_PLY_LITTLE, SEEP_PLY_BIG };

struct seep_ply_property {
    char name[64];
    enum seep_ply_type type;
    bool is_list;
    enum seep_ply_type count_type; /* lists */
    void *values;   /* scalars: [n] of `type`, host byte order; lists: all items in a row */
    size_t *starts; /* lists: [n + 1] */
};

struct seep_ply_element {
    char name[64];
    size_t n;
    struct seep_ply_property *properties;
    size_t n_properties;
};

struct seep_ply {
    enum seep_ply_encoding encoding;
    struct seep_ply_element *elements;
    size_t n_elements;
};

#endif
