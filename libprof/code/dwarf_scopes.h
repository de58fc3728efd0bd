/* Which function and which inlined calls an address lies in, by DWARF. A part of symbols.
 *
 * libdw's dwarf_getscopes() walks the whole unit for each address. Here the functions of the last
 * unit are kept sorted, so addresses in ascending order cost one pass per unit. */
#ifndef SEEP_LIBPROF_CODE_DWARF_SCOPES_H
#define SEEP_LIBPROF_CODE_DWARF_SCOPES_H

#include <elfutils/libdw.h>
#include <stdint.h>

struct seep_scope_function {
    uint64_t low, high; /* [low, high) */
    Dwarf_Off die;
};

/* Initially all zero. */
struct seep_scopes {
    Dwarf_Off unit; /* the unit of the functions below; 0: none */
    struct seep_scope_function *functions;
    size_t n, capacity;
};

void seep_scopes_fini(struct seep_scopes *scopes);

/* The DIEs around `address` in `unit`: inlined calls, innermost first, then the function. Returns
 * how many, at most `capacity`; 0 if no function covers the address or memory is short. */
uint32_t seep_scopes_at(struct seep_scopes *scopes, Dwarf *dwarf, Dwarf_Die *unit, uint64_t address,
                        Dwarf_Die *chain, uint32_t capacity);

#endif
