/* Names of native frames: function (demangled), file, line and inlined calls, from the ELF files on
 * disk. The only user of libdw and libelf.
 *
 * A module is read once, when a frame of it is first wanted, and only if its build id is the
 * recorded one (or none was recorded). Symbol tables are scanned once for all wanted addresses
 * together, so the cost is that of reading them, whatever their size. DWARF is read only if the
 * file has it, or a file below /usr/lib/debug/.build-id; of glibc only names are read. */
#ifndef SEEP_LIBPROF_CODE_SYMBOLS_H
#define SEEP_LIBPROF_CODE_SYMBOLS_H

#include "libprof/model/dictionary.h"

struct seep_symbol {
    const char *function; /* NULL unknown */
    const char *file;     /* NULL unknown */
    unsigned line;        /* 0 unknown */
};

struct seep_symbols;

/* NULL without memory. `dict` must outlive it. Unless `may_open`, no file is opened and all symbols
 * stay unknown. */
struct seep_symbols *seep_symbols_create(const struct seep_dictionary *dict, bool may_open);
void seep_symbols_destroy(struct seep_symbols *s);

/* Looks up the native frames of frames[0, n); others, and those already known, are skipped. What
 * cannot be read stays unknown, which is no error. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_symbols_resolve(struct seep_symbols *s, const uint32_t *frames, size_t n);

/* The functions at a frame, innermost inlined one first; 0 if unknown or not looked up. Texts live
 * as long as `s`. */
size_t seep_symbols_get(const struct seep_symbols *s, uint32_t frame,
                        const struct seep_symbol **symbols);

#endif
