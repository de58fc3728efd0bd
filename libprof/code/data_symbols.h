/* Names of data: which variable of a program or a library lies at an address. */
#ifndef SEEP_LIBPROF_CODE_DATA_SYMBOLS_H
#define SEEP_LIBPROF_CODE_DATA_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names the variable of the ELF file at `path` that contains `address`, where `base` is the address
 * at which the file's first byte was mapped. Searches its symbols, then its exported symbols. C++
 * names are as in the source; the name is cut to `capacity` and is UTF-8 without control
 * characters. Returns false, and "", if no variable contains the address. */
bool seep_data_symbol(const char *path, uint64_t base, uint64_t address, char *to, size_t capacity);

/* The reverse: the address of the variable that the file exports as `name`. False if there is
 * none. */
bool seep_data_address(const char *path, uint64_t base, const char *name, uint64_t *address);

#endif
