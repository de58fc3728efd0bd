/* The programs of call-frame information: instructions that describe, row by row, how the rule for
 * the caller's frame changes from one code address to the next. */
#ifndef SEEP_PRELOAD_STACK_CFI_PROGRAM_H
#define SEEP_PRELOAD_STACK_CFI_PROGRAM_H

#include "preload/stack/cfi_cursor.h"
#include "preload/stack/cfi_rule.h"

enum { SEEP_CFI_RETURN_ADDRESS = 16 }; /* number of its column on x86-64 */

struct seep_cfi_program {
    struct seep_cursor common, own; /* of the CIE, and of the FDE */
    uint64_t code_align;
    int64_t data_align;
    uintptr_t start; /* of the code that it describes */
};

/* The rule at `pc`; SEEP_CFA_UNKNOWN if it cannot be expressed. */
struct seep_cfi_rule seep_cfi_program_run(const struct seep_cfi_program *program, uintptr_t pc);

#endif
