/* Dictionaries of the profile: strings, modules, code objects, frames, stacks. Each distinct record
 * is stored once; an index in private memory finds it. Runtime part.
 *
 * The caller holds seep_arena.lock. All return a ref, 0 when the profile or memory is full. Records
 * are complete before they are published, so the process may be killed or forked at any instant. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_INTERN_H
#define SEEP_LIBPROF_RUNTIME_STORE_INTERN_H

#include "libprof/runtime/store/arena.h"

uint32_t seep_intern_string(const char *text, uint32_t n_bytes);
uint32_t seep_intern_module(const struct seep_module *module);
uint32_t seep_intern_code(const struct seep_code_object *code);
uint32_t seep_intern_frame(enum seep_frame_kind kind, uint32_t owner, uint64_t where);
uint32_t seep_intern_stack(uint32_t parent, uint32_t frame);

#endif
