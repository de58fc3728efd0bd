/* What differs between processors: instructions, registers, numbers of the ABI. Nothing else in
 * seep asks which processor it is built for (but preload/seep.h, which stands alone). A further
 * processor is a header here, which defines all of this:
 *
 *   SEEP_ARCH_NAME                  for people: "run a build for …"
 *   SEEP_ARCH_MACHINE, _AUDIT       of ELF headers; of seccomp's filters
 *   SEEP_ARCH_AVX                   1: kernels/ has vector instructions of x86-64
 *
 *   seep_arch_call6()               a system call: its value, or a negative errno
 *   seep_arch_pause()               says that this thread spins
 *   seep_arch_thread_pointer()
 *   seep_arch_code_address()        of a return address as it lies in memory: without a signature
 *   seep_arch_untagged()            an address without what may stand in its highest byte: both
 *                                   lead to the same memory
 *   SEEP_ARCH_CLOCK                 the vDSO's clock_gettime()
 *
 *   SEEP_ARCH_CALLER_STACK()        in a function with a frame pointer: its caller's stack pointer
 *   SEEP_ARCH_N_SAVED, SEEP_ARCH_SAVE(to)
 *                                   stores the registers that a function keeps for its caller
 *   struct seep_arch_frame, seep_arch_interrupted()
 *                                   what a signal interrupted, from its ucontext_t, which lies
 *                                   SEEP_ARCH_CONTEXT_AT bytes above a handler's caller's stack
 *                                   pointer
 *   seep_arch_is_sigreturn()        whether so many bytes of code (SEEP_ARCH_SIGRETURN_BYTES) are
 *                                   what a handler returns to
 *   SEEP_ARCH_DWARF_FP, _SP, _RA    numbers of registers in call-frame information;
 *   SEEP_ARCH_RA_ON_STACK           a call stores its return address at CFA − 8; else in a register
 *   SEEP_ARCH_FRAME_RECORDS         1: the frame pointer leads along records, the caller's record
 *                                   and the return address, in all code that is not built to use
 *                                   it otherwise. A function may have none
 *   seep_arch_is_call()             whether an instruction is a call that stores where it returns
 *                                   to; only asked where there are such records
 *
 *   SEEP_ARCH_CODE_STEP, seep_arch_jump_out(), seep_arch_jump_back()
 *                                   where a jump leads that may leave a function for its cold part,
 *                                   and one that may return; 0: at `at` there is none. Reads
 *                                   SEEP_ARCH_JUMP_BYTES
 *
 *   SEEP_ARCH_TP_IS_DESCRIPTOR      1: the thread pointer is the address of glibc's struct pthread;
 *                                   0: its end
 *   SEEP_ARCH_DTV_AT                glibc's table of a thread's variables, from its thread pointer
 *   SEEP_ARCH_TLS_BELOW, _ABOVE     bytes around the thread pointer where glibc keeps what a thread
 *                                   has
 *
 *   SEEP_ARCH_ENTRY(name, body, …)  defines a function of this body of assembly and operands
 *   SEEP_ARCH_SELECT_CALL(table, watched, behind, fallback)
 *                                   such a body: goes on to `watched` if the first argument is
 *                                   below [n] and not 0 in the table of bytes, else to the function
 *                                   that `behind` has at [at], or to `fallback` if there is none;
 *                                   all registers and the stack as they came
 *   SEEP_ARCH_LOOK_AND_GO(look)     such a body: calls look(return address, stack pointer, frame
 *                                   pointer) of the caller and goes on to what it returns, with the
 *                                   arguments as they came
 *
 *   SEEP_ARCH_EIGHT_WORDS, _TRACED  its headers for eight_words.h and traced.h beside this
 */
#ifndef SEEP_LIBPROF_ARCH_ARCH_H
#define SEEP_LIBPROF_ARCH_ARCH_H

#include <elf.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

struct seep_arch_frame {
    uintptr_t pc, sp, fp;
    uintptr_t link; /* where a function that has stored nothing yet returns to; 0: on the stack */
};

/* GCC has functions without a prologue for some processors only. */
#define SEEP_ARCH_ENTRY(name, body, ...) SEEP_ARCH_ENTRY_(name, body, __VA_ARGS__)
#define SEEP_ARCH_ENTRY_(name, body, ...)                                                          \
    __attribute__((used, noinline)) static void name##_is_here(void)                               \
    {                                                                                              \
        __asm__ volatile(".pushsection .text\n\t"                                                  \
                         ".globl " #name "\n\t"                                                    \
                         ".type " #name ", %%function\n\t"                                         \
                         ".p2align 4\n" #name ":\n\t" body ".size " #name ", . - " #name "\n\t"    \
                         ".popsection" ::__VA_ARGS__);                                             \
    }

#if defined(__x86_64__) && defined(__LP64__)
#include "libprof/arch/x86_64.h"
#elif defined(__aarch64__) && defined(__LP64__) && defined(__AARCH64EL__)
#include "libprof/arch/aarch64.h"
#else
#error "seep runs on x86-64 and on 64-bit Arm (little endian): see libprof/arch/arch.h"
#endif

#endif
