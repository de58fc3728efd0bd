/* Call-frame information: from a code address to the rule that finds the caller's frame.
 *
 * Reads .eh_frame through .eh_frame_hdr as linkers write them (System V ABI, x86-64). No locks, no
 * allocation. Supports what compilers write for ordinary code, realigned stacks and signal frames;
 * other expressions (PLT stubs, hand-written code) end a walk. */
#ifndef SEEP_PRELOAD_STACK_CFI_H
#define SEEP_PRELOAD_STACK_CFI_H

#include <stdint.h>

#include "preload/stack/cfi_rule.h"

/* The rule at `pc` (return address − 1) of the object whose .eh_frame_hdr is given. The return
 * address is always at CFA − 8. SEEP_CFA_UNKNOWN if pc has no entry. */
struct seep_cfi_rule seep_cfi_find(const uint8_t *eh_frame_hdr, uintptr_t pc);

#endif
