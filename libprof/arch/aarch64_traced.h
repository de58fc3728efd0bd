/* Registers of a traced thread on 64-bit Arm. See libprof/arch/traced.h. */
#ifndef SEEP_LIBPROF_ARCH_AARCH64_TRACED_H
#define SEEP_LIBPROF_ARCH_AARCH64_TRACED_H

#define SEEP_ARCH_CALL "\x01\x00\x00\xd4" /* svc #0 */
enum { SEEP_ARCH_CALL_BYTES = 4, SEEP_ARCH_CALL_STEP = 4, SEEP_ARCH_RED_ZONE = 0 };

static inline void seep_arch_set_call(struct user_regs_struct *r, uint64_t instruction,
                                      const long call[7])
{
    r->pc = instruction;
    r->regs[8] = (unsigned long)call[0];
    for (int i = 0; i < 6; i++)
        r->regs[i] = (unsigned long)call[1 + i];
}

static inline uint64_t seep_arch_pc(const struct user_regs_struct *r)
{
    return r->pc;
}

static inline uint64_t seep_arch_sp(const struct user_regs_struct *r)
{
    return r->sp;
}

static inline long seep_arch_result(const struct user_regs_struct *r)
{
    return (long)r->regs[0];
}

static inline void seep_arch_set_result(struct user_regs_struct *r, long result)
{
    r->regs[0] = (unsigned long)result;
}

/* The kernel has forgotten the number when a thread stops, and never shows the first argument,
 * which the result has overwritten: a call that a stop has ended cannot be begun again. */
static inline long seep_arch_call_made(const struct user_regs_struct *r)
{
    (void)r;
    return -1;
}

#endif
