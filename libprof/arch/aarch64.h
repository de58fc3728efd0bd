/* 64-bit Arm (AAPCS64, Linux). See libprof/arch/arch.h. */
#ifndef SEEP_LIBPROF_ARCH_AARCH64_H
#define SEEP_LIBPROF_ARCH_AARCH64_H

#define SEEP_ARCH_NAME    "64-bit Arm"
#define SEEP_ARCH_MACHINE EM_AARCH64
#define SEEP_ARCH_AUDIT   AUDIT_ARCH_AARCH64
#define SEEP_ARCH_AVX     0
#define SEEP_ARCH_CLOCK   "__kernel_clock_gettime"

/* ---- calls ----------------------------------------------------------------------------------- */

static inline long seep_arch_call6(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory", "cc");
    return x0;
}

/* `yield` does nothing on cores with one thread; `isb` waits for some ten cycles on all. */
static inline void seep_arch_pause(void)
{
    __asm__ volatile("isb" ::: "memory");
}

static inline uintptr_t seep_arch_thread_pointer(void)
{
    uintptr_t pointer;
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}

/* xpaclri takes a signature away (FEAT_PAuth), however long the process's signatures are; where
 * nothing is signed it does nothing. */
static inline uintptr_t seep_arch_code_address(uintptr_t stored)
{
    register uintptr_t x30 __asm__("x30") = stored;
    __asm__("hint #7" : "+r"(x30));
    return x30;
}

/* The highest byte may be a tag (MTE, glibc.mem.tagging, HWASan) or anything of the program's. */
static inline uint64_t seep_arch_untagged(uint64_t address)
{
    return address & UINT64_MAX >> 8;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Where in a frame the frame pointer lies is the compiler's choice. Clang takes it for the CFA. */
#ifdef __clang__
#define SEEP_ARCH_CALLER_STACK() ((uintptr_t)__builtin_sponentry())
#else
#define SEEP_ARCH_CALLER_STACK() ((uintptr_t)__builtin_dwarf_cfa())
#endif

#define SEEP_ARCH_N_SAVED 12
#define SEEP_ARCH_SAVE(to)                                                                         \
    __asm__ volatile("stp x19, x20, [%0]\n\tstp x21, x22, [%0, #16]\n\t"                           \
                     "stp x23, x24, [%0, #32]\n\tstp x25, x26, [%0, #48]\n\t"                      \
                     "stp x27, x28, [%0, #64]\n\tstp x29, x30, [%0, #80]"                          \
                     :                                                                             \
                     : "r"(to)                                                                     \
                     : "memory")

#define SEEP_ARCH_CONTEXT_AT 128 /* a siginfo_t */
static inline struct seep_arch_frame seep_arch_interrupted(const ucontext_t *context)
{
    const mcontext_t *r = &context->uc_mcontext;
    return (struct seep_arch_frame){.pc = (uintptr_t)r->pc,
                                    .sp = (uintptr_t)r->sp,
                                    .fp = (uintptr_t)r->regs[29],
                                    .link = (uintptr_t)r->regs[30]};
}

enum { SEEP_ARCH_SIGRETURN_BYTES = 8 };
static inline bool seep_arch_is_sigreturn(const void *pc)
{
    static const uint32_t code[SEEP_ARCH_SIGRETURN_BYTES / 4] = {0xd2801168, 0xd4000001};
    return memcmp(pc, code, sizeof(code)) == 0; /* mov x8, #139; svc #0 */
}

enum {
    SEEP_ARCH_DWARF_FP = 29,
    SEEP_ARCH_DWARF_SP = 31,
    SEEP_ARCH_DWARF_RA = 30,
    SEEP_ARCH_RA_ON_STACK = 0,
    SEEP_ARCH_FRAME_RECORDS = 1, /* AAPCS64, "The Frame Pointer" */
};

/* ---- code ------------------------------------------------------------------------------------ */

/* bl; blr; blraa and its kin, which check a signature. */
static inline bool seep_arch_is_call(uint32_t code)
{
    return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000 ||
           (code & 0xfefff800) == 0xd63f0800;
}

enum { SEEP_ARCH_CODE_STEP = 4, SEEP_ARCH_JUMP_BYTES = 4 };

static inline uintptr_t seep_arch_branch(const uint8_t *at, uint32_t by, unsigned bits)
{
    const int64_t words = (int64_t)((uint64_t)by << (64 - bits)) >> (64 - bits);
    return (uintptr_t)at + (uintptr_t)(words * 4);
}

/* b; conditional branches do not reach far enough for the linker to place a cold part freely. */
static inline uintptr_t seep_arch_jump_back(const uint8_t *at)
{
    uint32_t code;
    memcpy(&code, at, sizeof(code));
    return code >> 26 == 0x05 ? seep_arch_branch(at, code, 26) : 0;
}

/* b, b.cond, cbz and cbnz, tbz and tbnz */
static inline uintptr_t seep_arch_jump_out(const uint8_t *at)
{
    uint32_t code;
    memcpy(&code, at, sizeof(code));
    if (code >> 24 == 0x54 || (code >> 25 & 0x3f) == 0x1a)
        return seep_arch_branch(at, code >> 5, 19);
    return (code >> 25 & 0x3f) == 0x1b ? seep_arch_branch(at, code >> 5, 14)
                                       : seep_arch_jump_back(at);
}

/* ---- a thread's own memory ------------------------------------------------------------------- */

/* Variables lie above the thread pointer, and glibc's data about the thread below it. */
enum {
    SEEP_ARCH_TP_IS_DESCRIPTOR = 0,
    SEEP_ARCH_DTV_AT = 0,
    SEEP_ARCH_TLS_BELOW = 4 << 10,
    SEEP_ARCH_TLS_ABOVE = 64 << 10,
};

/* ---- entries --------------------------------------------------------------------------------- */

/* x16 and x17 belong to nobody between a call and the function; a branch by them may enter code
 * that checks where it is entered (BTI), as `hint #34` lets others enter this. */
#define SEEP_ARCH_SELECT_CALL(table, watched, behind, fallback)                                    \
    "hint #34\n\t"                                                                                 \
    "cmp x0, %[n]\n\t"                                                                             \
    "b.hs 1f\n\t"                                                                                  \
    "adrp x16, " table "\n\t"                                                                      \
    "add x16, x16, :lo12:" table "\n\t"                                                            \
    "ldrb w16, [x16, x0]\n\t"                                                                      \
    "cbz w16, 1f\n\t"                                                                              \
    "b " watched "\n"                                                                              \
    "1:\tadrp x16, " behind "+%c[at]\n\t"                                                          \
    "ldr x16, [x16, :lo12:" behind "+%c[at]]\n\t"                                                  \
    "cbz x16, 2f\n\t"                                                                              \
    "br x16\n"                                                                                     \
    "2:\tb " fallback "\n"

/* x8: where a large result goes. */
#define SEEP_ARCH_LOOK_AND_GO(look)                                                                \
    "hint #34\n\t"                                                                                 \
    "stp x29, x30, [sp, #-96]!\n\t"                                                                \
    "stp x0, x1, [sp, #16]\n\t"                                                                    \
    "stp x2, x3, [sp, #32]\n\t"                                                                    \
    "stp x4, x5, [sp, #48]\n\t"                                                                    \
    "stp x6, x7, [sp, #64]\n\t"                                                                    \
    "str x8, [sp, #80]\n\t"                                                                        \
    "mov x0, x30\n\t"                                                                              \
    "add x1, sp, #96\n\t"                                                                          \
    "mov x2, x29\n\t"                                                                              \
    "bl " look "\n\t"                                                                              \
    "mov x16, x0\n\t"                                                                              \
    "ldr x8, [sp, #80]\n\t"                                                                        \
    "ldp x6, x7, [sp, #64]\n\t"                                                                    \
    "ldp x4, x5, [sp, #48]\n\t"                                                                    \
    "ldp x2, x3, [sp, #32]\n\t"                                                                    \
    "ldp x0, x1, [sp, #16]\n\t"                                                                    \
    "ldp x29, x30, [sp], #96\n\t"                                                                  \
    "br x16\n"

#define SEEP_ARCH_EIGHT_WORDS "libprof/arch/aarch64_eight_words.h"
#define SEEP_ARCH_TRACED      "libprof/arch/aarch64_traced.h"

#endif
