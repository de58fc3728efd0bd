/* Blocks of C and C++: every word may be an address, unless the class says otherwise. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_NATIVE_H
#define SEEP_LIBPROF_WHO_GRAPH_NATIVE_H

#include "libprof/who/graph/edges.h"

/* Walks the words of a block that may be addresses; of a tensor's storage only the storage's own
 * words. */
void seep_native_walk(struct seep_heap *heap, uint32_t node);

/* The name of the C++ class in a vtable's type_info, its last two parts, such as "AutogradMeta" or
 * "c10::TensorImpl"; false, and "", if there is none. */
bool seep_native_class(struct seep_heap *heap, uint64_t vtable, char *to, size_t capacity);

/* Whether a block that begins with this word is an object of a C++ class with a name. */
bool seep_native_is_vtable(struct seep_heap *heap, uint64_t word);

/* Of c10::DeviceType. */
enum { SEEP_DEVICE_CPU = 0 };

/* A tensor's storage, by its own words. */
struct seep_storage {
    uint64_t data;      /* on its device; 0: there is none */
    uint64_t bytes;     /* 0: not known */
    uint64_t device_at; /* address of the word with its device: */
    uint8_t device;     /* of c10::DeviceType, */
    uint8_t number;     /* and which one of these */
};

/* False: the node is none. */
bool seep_native_storage(struct seep_heap *heap, uint32_t node, struct seep_storage *storage);

/* Says that a tensor's elements are not addresses. */
void seep_native_spare(struct seep_heap *heap, const struct seep_storage *storage);

/* Bytes that the object of C++ at `address` has at least, in all versions of its library; 0: its
 * class is none of those that lead from a tensor to its elements. */
uint64_t seep_native_bytes(struct seep_heap *heap, uint64_t address);

#endif
