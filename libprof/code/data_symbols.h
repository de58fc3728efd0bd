/* Names of data: which variable of a program or a library lies at an address. */
#ifndef SEEP_LIBPROF_CODE_DATA_SYMBOLS_H
#define SEEP_LIBPROF_CODE_DATA_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names the variable of the ELF file at `path` that lies at `address`, where the file's first byte
 * was mapped at `base`: from its symbols, else from those that it exports, C++ names as in the
 * source, cut to `capacity`, as UTF-8 without control characters. False, and "", where none covers
 * it. */
bool seep_data_symbol(const char *path, uint64_t base, uint64_t address, char *to, size_t capacity);

/* The reverse: where the variable that the file exports as `name` lies. False: it has none. */
bool seep_data_address(const char *path, uint64_t base, const char *name, uint64_t *address);

#endif
