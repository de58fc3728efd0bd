/* The rule of one code address: where the caller's frame is. */
#ifndef SEEP_PRELOAD_STACK_CFI_RULE_H
#define SEEP_PRELOAD_STACK_CFI_RULE_H

#include <stdint.h>

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

#endif
