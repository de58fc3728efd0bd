/* Which function and which inlined calls an address lies in, by DWARF. A part of symbols.
 *
 * libdw's dwarf_getscopes() goes through the whole unit for each address; here the functions of the
 * unit asked for last are kept sorted, so addresses in ascending order cost one pass a unit. */
#ifndef SEEP_LIBPROF_CODE_DWARF_SCOPES_H
#define SEEP_LIBPROF_CODE_DWARF_SCOPES_H

#include <elfutils/libdw.h>
#include <stdint.h>

struct seep_scope_function {
    uint64_t low, high; /* [low, high) */
    Dwarf_Off die;
};

/* All zero to begin with. */
struct seep_scopes {
    Dwarf_Off unit; /* of the functions below; 0: none */
    struct seep_scope_function *functions;
    size_t n, capacity;
};

void seep_scopes_fini(struct seep_scopes *scopes);

/* The DIEs around `address` in `unit`: inlined calls, innermost first, and the function last.
 * Returns how many, at most `capacity`; 0 when no function covers it, or there is no memory. */
uint32_t seep_scopes_at(struct seep_scopes *scopes, Dwarf *dwarf, Dwarf_Die *unit, uint64_t address,
                        Dwarf_Die *chain, uint32_t capacity);

#endif
