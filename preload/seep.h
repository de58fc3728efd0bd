/* seep.h: telling seep, the memory profiler, where training steps and epochs end, and what an
 * allocator of the program's own hands out.
 *
 *     #include <seep.h>
 *     for (int step = 0; step < n; step++) {
 *         train(step);
 *         seep_step();
 *     }
 *
 * Nothing has to be linked: where libseep.so is not in the process, the functions return at once,
 * and a program that calls them runs as before. Growth is then reported per step as counted by
 * seep_step(), which takes precedence over steps that seep finds by itself.
 *
 * C99 and C++98, GCC and Clang, x86-64 Linux; elsewhere the functions do nothing.
 * Threads: any thread may call; steps are counted per process. Signal handlers: no.
 * Allocates: nothing. Errors: none. */
#ifndef SEEP_H
#define SEEP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the address of a function that libseep.so exports, NULL where it is not loaded. The weak
 * reference goes through the GOT, so that it stays open until run time in programs that are not
 * position independent, too. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define SEEP_LOAD_(name, to)                                                                       \
    __asm__(".weak " name "\n\tmovq " name "@GOTPCREL(%%rip), %0" : "=r"(to))
#else
#define SEEP_LOAD_(name, to) ((to) = 0)
#endif

#define SEEP_DEFINE_(name)                                                                         \
    static inline void name(void) __asm__(#name "_of_this_file");                                  \
    static inline __attribute__((unused)) void name(void)                                          \
    {                                                                                              \
        void (*call)(void);                                                                        \
        SEEP_LOAD_(#name, call);                                                                   \
        if (call)                                                                                  \
            call();                                                                                \
    }

/* The training step that this process was in has ended. */
SEEP_DEFINE_(seep_step)

/* The epoch that this process was in has ended; or, as good, one begins: before the first step, and
 * where another one is over. */
SEEP_DEFINE_(seep_epoch)

/* Who holds the memory that is live now is to be looked for: in a copy of the process, which takes
 * the time of a fork(). The report has what was found with the findings. */
SEEP_DEFINE_(seep_holders)

/* Nonzero where seep records this process. */
static inline __attribute__((unused)) int seep_active(void)
{
    void (*call)(void);

    SEEP_LOAD_("seep_step", call);
    return call != 0;
}

/* A block of memory that seep cannot see being made: of a pool or an arena, of a device's driver.
 *   space    where it lies: "device:N" what the driver of GPU N gave, "tensor:N" what an allocator
 * cut from that, "pinned", or a name of your own (letters, digits, ':', '-', '_', up to 23).
 *            "host", "mmap" and "shm" are seen without, and left alone here
 *   address  of the block, not NULL; one that is announced again replaces the one before
 * The report has the block with the stack of this call, in its space. Call it after the block was
 * made, and seep_block_gone() before another thread may be given the address: what is announced in
 * another order takes one block for the other. */
static inline void seep_block_made(const char *space, const void *address,
                                   size_t bytes) __asm__("seep_block_made_of_this_file");
static inline __attribute__((unused)) void seep_block_made(const char *space, const void *address,
                                                           size_t bytes)
{
    void (*call)(const char *, const void *, size_t);

    SEEP_LOAD_("seep_block_made", call);
    if (call)
        call(space, address, bytes);
}

/* The block of `space` at `address` is no more. One that was never announced is no error. */
static inline void seep_block_gone(const char *space,
                                   const void *address) __asm__("seep_block_gone_of_this_file");
static inline __attribute__((unused)) void seep_block_gone(const char *space, const void *address)
{
    void (*call)(const char *, const void *);

    SEEP_LOAD_("seep_block_gone", call);
    if (call)
        call(space, address);
}

#undef SEEP_DEFINE_

#ifdef __cplusplus
}
#endif

#endif
