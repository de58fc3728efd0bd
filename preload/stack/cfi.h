/* Call-frame information: from a code address to the rule that finds the caller's frame.
 *
 * Reads .eh_frame through .eh_frame_hdr as linkers write them (DWARF 5, 6.4; the ABIs of the
 * processors in libprof/arch/). No locks, no allocation. Supports what compilers write for ordinary
 * code, realigned stacks and signal frames; other expressions (PLT stubs, hand-written code) end a
 * walk. */
#ifndef SEEP_PRELOAD_STACK_CFI_H
#define SEEP_PRELOAD_STACK_CFI_H

#include <stdint.h>

/* The rule of one code address: where the caller's frame is. */
enum seep_cfa_kind {
    SEEP_CFA_NONE = 0,
    SEEP_CFA_SP,       /* CFA = stack pointer + cfa_offset */
    SEEP_CFA_FP,       /* CFA = frame pointer + cfa_offset */
    SEEP_CFA_FP_DEREF, /* CFA = *(frame pointer + cfa_offset): realigned stacks */
    SEEP_CFA_END,      /* the outermost frame */
    SEEP_CFA_SIGNAL,   /* the kernel's signal frame: a ucontext_t near the stack pointer */
    SEEP_CFA_UNKNOWN,  /* cannot be expressed here */
    SEEP_CFA_RECORD,   /* says nothing: the frame pointer may lead to a record */
};

enum seep_fp_kind {
    SEEP_FP_SAME = 0,
    SEEP_FP_AT_CFA, /* caller's frame pointer = *(CFA + fp_offset) */
    SEEP_FP_AT_FP,  /* caller's frame pointer = *(frame pointer + fp_offset) */
};

/* Offsets count words of 8 bytes. */
struct seep_cfi_rule {
    uint32_t cfa_kind : 4;
    uint32_t is_eval : 1;   /* in the evaluation loop of Python, */
    uint32_t is_loader : 1; /* in the dynamic loader: for who keeps rules */
    uint32_t fp_kind : 2;
    int32_t cfa_offset : 24;
    int16_t fp_offset;
    int16_t ra_offset; /* the return address is at CFA + so much, or SEEP_RA_IN_LINK */
};

/* In the link register, which only code that a signal has interrupted still has. */
enum { SEEP_RA_IN_LINK = INT16_MIN };

/* The rule at `pc` (return address − 1) of the object whose .eh_frame_hdr is given.
 * SEEP_CFA_UNKNOWN if pc has no entry. */
struct seep_cfi_rule seep_cfi_find(const uint8_t *eh_frame_hdr, uintptr_t pc);

#endif
