/* Registers of a traced thread on x86-64. See libprof/arch/traced.h. */
#ifndef SEEP_LIBPROF_ARCH_X86_64_TRACED_H
#define SEEP_LIBPROF_ARCH_X86_64_TRACED_H

#define SEEP_ARCH_CALL "\x0f\x05"
enum { SEEP_ARCH_CALL_BYTES = 2, SEEP_ARCH_CALL_STEP = 1, SEEP_ARCH_RED_ZONE = 128 };

static inline void seep_arch_set_call(struct user_regs_struct *r, uint64_t instruction,
                                      const long call[7])
{
    r->rip = instruction;
    r->rax = (unsigned long)call[0];
    r->orig_rax = (unsigned long)-1; /* no call that is to be restarted */
    r->rdi = (unsigned long)call[1];
    r->rsi = (unsigned long)call[2];
    r->rdx = (unsigned long)call[3];
    r->r10 = (unsigned long)call[4];
    r->r8 = (unsigned long)call[5];
    r->r9 = (unsigned long)call[6];
}

static inline uint64_t seep_arch_pc(const struct user_regs_struct *r)
{
    return r->rip;
}

static inline uint64_t seep_arch_sp(const struct user_regs_struct *r)
{
    return r->rsp;
}

static inline long seep_arch_result(const struct user_regs_struct *r)
{
    return (long)r->rax;
}

static inline void seep_arch_set_result(struct user_regs_struct *r, long result)
{
    r->rax = (unsigned long)result;
}

static inline long seep_arch_call_made(const struct user_regs_struct *r)
{
    return (long)r->orig_rax;
}

#endif
