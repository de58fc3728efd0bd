#include "libprof/code/dwarf_scopes.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MAX_DEPTH = 64 }; /* of nested scopes; a hostile file may nest without end */

void seep_scopes_fini(struct seep_scopes *scopes)
{
    free(scopes->functions);
    *scopes = (struct seep_scopes){0};
}

static bool add(struct seep_scopes *scopes, uint64_t low, uint64_t high, Dwarf_Off die)
{
    if (scopes->n == scopes->capacity) {
        size_t capacity = scopes->capacity ? scopes->capacity * 2 : 256;
        struct seep_scope_function *larger = realloc(scopes->functions, capacity * sizeof *larger);
        if (!larger)
            return false;
        scopes->functions = larger;
        scopes->capacity = capacity;
    }
    scopes->functions[scopes->n++] = (struct seep_scope_function){low, high, die};
    return true;
}

/* Collects the functions among the children of `parent` and in namespaces below it. */
static bool collect(struct seep_scopes *scopes, Dwarf_Die *parent, int depth)
{
    Dwarf_Die child;
    bool more = dwarf_child(parent, &child) == 0;

    for (; more; more = dwarf_siblingof(&child, &child) == 0) {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_namespace && depth < MAX_DEPTH && !collect(scopes, &child, depth + 1))
            return false;
        if (tag != DW_TAG_subprogram)
            continue;
        Dwarf_Addr base, low, high;
        ptrdiff_t at = 0;
        while ((at = dwarf_ranges(&child, at, &base, &low, &high)) > 0)
            if (low < high && !add(scopes, low, high, dwarf_dieoffset(&child)))
                return false;
    }
    return true;
}

static int by_low(const void *a, const void *b)
{
    const struct seep_scope_function *p = a, *q = b;

    return (p->low > q->low) - (p->low < q->low);
}

static bool find(const struct seep_scopes *scopes, uint64_t address, Dwarf_Off *die)
{
    size_t low = 0, high = scopes->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scopes->functions[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address >= scopes->functions[low - 1].high)
        return false;
    *die = scopes->functions[low - 1].die;
    return true;
}

/* The child of `parent` that covers the address, a block or an inlined call. */
static bool inner(Dwarf_Die *parent, uint64_t address, Dwarf_Die *child)
{
    for (bool more = dwarf_child(parent, child) == 0; more;
         more = dwarf_siblingof(child, child) == 0) {
        int tag = dwarf_tag(child);
        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
            dwarf_haspc(child, address) > 0)
            return true;
    }
    return false;
}

uint32_t seep_scopes_at(struct seep_scopes *scopes, Dwarf *dwarf, Dwarf_Die *unit, uint64_t address,
                        Dwarf_Die *chain, uint32_t capacity)
{
    Dwarf_Die outside_in[MAX_DEPTH], at, child;
    Dwarf_Off die, unit_offset = dwarf_dieoffset(unit);
    uint32_t n = 0, stored = 0;

    if (scopes->unit != unit_offset) {
        scopes->n = 0;
        scopes->unit = 0;
        if (!collect(scopes, unit, 0))
            return 0;
        if (scopes->n)
            qsort(scopes->functions, scopes->n, sizeof *scopes->functions, by_low);
        scopes->unit = unit_offset;
    }
    if (!find(scopes, address, &die) || !dwarf_offdie(dwarf, die, &at))
        return 0;
    outside_in[n++] = at;
    for (int depth = 0; depth < MAX_DEPTH && n < MAX_DEPTH && inner(&at, address, &child);
         depth++) {
        at = child;
        if (dwarf_tag(&at) == DW_TAG_inlined_subroutine)
            outside_in[n++] = at;
    }
    while (n && stored < capacity)
        chain[stored++] = outside_in[--n];
    return stored;
}
