/* Call-frame information: from a code address to the rule that finds the caller's frame.
 *
 * Reads .eh_frame through .eh_frame_hdr as linkers write them (System V ABI, x86-64). No locks, no
 * allocation. Supports what compilers write for ordinary code, realigned stacks and signal frames;
 * other expressions (PLT stubs, hand-written code) end a walk. */
#ifndef SEEP_PRELOAD_STACK_CFI_H
#define SEEP_PRELOAD_STACK_CFI_H

#include <stdint.h>

/* The rule of one code address: where the caller's frame is. */
enum seep_cfa_kind {
    SEEP_CFA_NONE = 0,
    SEEP_CFA_RSP,       /* CFA = rsp + cfa_offset */
    SEEP_CFA_RBP,       /* CFA = rbp + cfa_offset */
    SEEP_CFA_RBP_DEREF, /* CFA = *(rbp + cfa_offset): realigned stacks */
    SEEP_CFA_END,       /* the outermost frame */
    SEEP_CFA_SIGNAL,    /* the kernel's signal frame: a ucontext_t at rsp */
    SEEP_CFA_UNKNOWN,   /* cannot be expressed here */
};

enum seep_rbp_kind {
    SEEP_RBP_SAME = 0,
    SEEP_RBP_AT_CFA, /* caller's rbp = *(CFA + rbp_offset) */
    SEEP_RBP_AT_RBP, /* caller's rbp = *(rbp + rbp_offset) */
};

struct seep_cfi_rule {
    uint8_t cfa_kind;
    uint8_t rbp_kind;
    int16_t rbp_offset;
    int32_t cfa_offset;
};

/* The rule at `pc` (return address − 1) of the object whose .eh_frame_hdr is given. The return
 * address is always at CFA − 8. SEEP_CFA_UNKNOWN if pc has no entry. */
struct seep_cfi_rule seep_cfi_find(const uint8_t *eh_frame_hdr, uintptr_t pc);

#endif
