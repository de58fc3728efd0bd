/* Names of Rust's symbols (RFC 2603, "v0"; and the older ones that look like C++). */
#ifndef SEEP_LIBPROF_CODE_RUST_NAME_H
#define SEEP_LIBPROF_CODE_RUST_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of a symbol that begins with "_R", without types of generic arguments:
 * "<polars_core::frame::DataFrame>::head", "alloc::vec::from_elem". Cut to `capacity`. False: it is
 * no such symbol. Any bytes may come. */
bool seep_rust_name(const char *symbol, char *to, size_t capacity);

/* The length of a demangled C++ name without the hash that older Rust adds: "::h" and 16 digits. */
size_t seep_rust_without_hash(const char *name);

#endif
