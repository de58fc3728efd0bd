/* x86-64 (System V ABI). See libprof/arch/arch.h. */
#ifndef SEEP_LIBPROF_ARCH_X86_64_H
#define SEEP_LIBPROF_ARCH_X86_64_H

#define SEEP_ARCH_NAME    "x86-64"
#define SEEP_ARCH_MACHINE EM_X86_64
#define SEEP_ARCH_AUDIT   AUDIT_ARCH_X86_64
#define SEEP_ARCH_AVX     1
#define SEEP_ARCH_CLOCK   "__vdso_clock_gettime"

/* ---- calls ----------------------------------------------------------------------------------- */

static inline long seep_arch_call6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline void seep_arch_pause(void)
{
    __builtin_ia32_pause();
}

static inline uintptr_t seep_arch_thread_pointer(void)
{
    uintptr_t pointer;
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

static inline uintptr_t seep_arch_code_address(uintptr_t stored)
{
    return stored;
}

static inline uint64_t seep_arch_untagged(uint64_t address)
{
    return address;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Saved frame pointer and return address lie between. */
#define SEEP_ARCH_CALLER_STACK() ((uintptr_t)__builtin_frame_address(0) + 16)

#define SEEP_ARCH_N_SAVED 6
#define SEEP_ARCH_SAVE(to)                                                                         \
    __asm__ volatile("mov %%rbx, 0(%0)\n\tmov %%rbp, 8(%0)\n\tmov %%r12, 16(%0)\n\t"               \
                     "mov %%r13, 24(%0)\n\tmov %%r14, 32(%0)\n\tmov %%r15, 40(%0)"                 \
                     :                                                                             \
                     : "r"(to)                                                                     \
                     : "memory")

#define SEEP_ARCH_CONTEXT_AT 0
static inline struct seep_arch_frame seep_arch_interrupted(const ucontext_t *context)
{
    const greg_t *r = context->uc_mcontext.gregs;
    return (struct seep_arch_frame){
        .pc = (uintptr_t)r[REG_RIP], .sp = (uintptr_t)r[REG_RSP], .fp = (uintptr_t)r[REG_RBP]};
}

enum { SEEP_ARCH_SIGRETURN_BYTES = 9 };
static inline bool seep_arch_is_sigreturn(const void *pc)
{
    static const unsigned char code[SEEP_ARCH_SIGRETURN_BYTES] = {0x48, 0xc7, 0xc0, 0x0f, 0,
                                                                  0,    0,    0x0f, 0x05};
    return memcmp(pc, code, sizeof(code)) == 0; /* mov $15, %rax; syscall */
}

enum {
    SEEP_ARCH_DWARF_FP = 6,
    SEEP_ARCH_DWARF_SP = 7,
    SEEP_ARCH_DWARF_RA = 16,
    SEEP_ARCH_RA_ON_STACK = 1,
    SEEP_ARCH_FRAME_RECORDS = 0, /* without call-frame information it may be anything */
};

/* ---- code ------------------------------------------------------------------------------------ */

static inline bool seep_arch_is_call(uint32_t code)
{
    (void)code;
    return false;
}

/* Instructions begin at any byte: bytes that are none do not point at the same place repeatedly. */
enum { SEEP_ARCH_CODE_STEP = 1, SEEP_ARCH_JUMP_BYTES = 6 };

static inline uintptr_t seep_arch_relative(const uint8_t *at, const uint8_t *end)
{
    int32_t by;
    memcpy(&by, at, sizeof(by));
    return (uintptr_t)end + (uintptr_t)(intptr_t)by;
}

/* A conditional jump: Jcc with four bytes. */
static inline uintptr_t seep_arch_jump_out(const uint8_t *at)
{
    return at[0] == 0x0f && (at[1] & 0xf0) == 0x80 ? seep_arch_relative(at + 2, at + 6) : 0;
}

static inline uintptr_t seep_arch_jump_back(const uint8_t *at)
{
    return at[0] == 0xe9 ? seep_arch_relative(at + 1, at + 5) : 0;
}

/* ---- a thread's own memory ------------------------------------------------------------------- */

/* Variables lie below the thread pointer, and glibc's data about the thread above it. */
enum {
    SEEP_ARCH_TP_IS_DESCRIPTOR = 1,
    SEEP_ARCH_DTV_AT = 8,
    SEEP_ARCH_TLS_BELOW = 64 << 10,
    SEEP_ARCH_TLS_ABOVE = 4 << 10,
};

/* ---- entries --------------------------------------------------------------------------------- */

#define SEEP_ARCH_SELECT_CALL(table, watched, behind, fallback)                                    \
    "cmp %[n], %%rdi\n\t"                                                                          \
    "jae 1f\n\t"                                                                                   \
    "lea " table "(%%rip), %%rax\n\t"                                                              \
    "cmpb $0, (%%rax,%%rdi)\n\t"                                                                   \
    "jne " watched "\n"                                                                            \
    "1:\tmov " behind "+%c[at](%%rip), %%rax\n\t"                                                  \
    "test %%rax, %%rax\n\t"                                                                        \
    "jz " fallback "\n\t"                                                                          \
    "jmp *%%rax\n"

#define SEEP_ARCH_LOOK_AND_GO(look)                                                                \
    "push %%rdi\n\t"                                                                               \
    "push %%rsi\n\t"                                                                               \
    "push %%rdx\n\t"                                                                               \
    "push %%rcx\n\t"                                                                               \
    "push %%r8\n\t"                                                                                \
    "push %%r9\n\t"                                                                                \
    "mov 48(%%rsp), %%rdi\n\t"                                                                     \
    "lea 56(%%rsp), %%rsi\n\t"                                                                     \
    "mov %%rbp, %%rdx\n\t"                                                                         \
    "sub $8, %%rsp\n\t"                                                                            \
    "call " look "\n\t"                                                                            \
    "add $8, %%rsp\n\t"                                                                            \
    "pop %%r9\n\t"                                                                                 \
    "pop %%r8\n\t"                                                                                 \
    "pop %%rcx\n\t"                                                                                \
    "pop %%rdx\n\t"                                                                                \
    "pop %%rsi\n\t"                                                                                \
    "pop %%rdi\n\t"                                                                                \
    "jmp *%%rax\n"

#define SEEP_ARCH_EIGHT_WORDS "libprof/arch/x86_64_eight_words.h"
#define SEEP_ARCH_TRACED      "libprof/arch/x86_64_traced.h"

#endif
