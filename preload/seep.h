/* seep.h tells seep, the memory profiler, where training steps and epochs end, and which blocks the
 * program's own allocator hands out, how many it can, and when it could not.
 *
 *     #include <seep.h>
 *     for (int step = 0; step < n; step++) {
 *         train(step);
 *         seep_step();
 *     }
 *
 * Nothing has to be linked: if libseep.so is not in the process, the functions return at once, and
 * a program that calls them runs as before. Growth is then reported per step as counted by
 * seep_step(), which takes precedence over steps that seep finds by itself.
 *
 * C99 and C++98, GCC and Clang, Linux on x86-64 and 64-bit Arm; elsewhere the functions do nothing.
 * Threads: any thread may call; steps are counted per process. Signal handlers: no.
 * Allocates: nothing. Errors: none. */
#ifndef SEEP_H
#define SEEP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the address of a function that libseep.so exports; NULL if it is not loaded. The weak
 * reference goes through the GOT, so it is resolved at run time even in programs that are not
 * position independent. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define SEEP_LOAD_(name, to)                                                                       \
    __asm__(".weak " name "\n\tmovq " name "@GOTPCREL(%%rip), %0" : "=r"(to))
#elif defined(__aarch64__) && defined(__linux__) && defined(__GNUC__)
#define SEEP_LOAD_(name, to)                                                                       \
    __asm__(".weak " name "\n\tadrp %0, :got:" name "\n\tldr %0, [%0, :got_lo12:" name "]"         \
            : "=r"(to))
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

/* The epoch that this process was in has ended. Calling it as each epoch begins works as well:
 * before the first step, and whenever the previous epoch is over. */
SEEP_DEFINE_(seep_epoch)

/* Looks for what holds the memory that is live now, in a copy of the process, which takes the time
 * of a fork(). The report shows the result with the findings. */
SEEP_DEFINE_(seep_holders)

/* Nonzero if seep records this process. */
static inline __attribute__((unused)) int seep_active(void)
{
    void (*call)(void);

    SEEP_LOAD_("seep_step", call);
    return call != 0;
}

/* Announces a block of memory that seep cannot see being allocated: from a pool or an arena, or a
 * device's driver.
 *   space    where it is: "device:N" from the driver of GPU N, "tensor:N" what an allocator cut
 *            from that, "pinned", or a name of your own (letters, digits, ':', '-', '_', up to 23).
 *            "host", "mmap" and "shm" are ignored: seep sees those by itself
 *   address  of the block, not NULL; announcing it again replaces the earlier block
 * The report shows the block in its space with the stack of this call. Call this after the block
 * was allocated, and seep_block_gone() before another thread can get the address: in another order
 * one block is taken for the other. */
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

/* The block of `space` at `address` is gone. It is no error if it was never announced. */
static inline void seep_block_gone(const char *space,
                                   const void *address) __asm__("seep_block_gone_of_this_file");
static inline __attribute__((unused)) void seep_block_gone(const char *space, const void *address)
{
    void (*call)(const char *, const void *);

    SEEP_LOAD_("seep_block_gone", call);
    if (call)
        call(space, address);
}

/* What lies behind `space` (names as above) can hold at most so many bytes: a device, a pool of
 * fixed size, an allocator with a limit. The report then says how full it is and when it will be.
 * Calling it again replaces the number; 0: unknown again. */
static inline void seep_space_capacity(const char *space,
                                       size_t bytes) __asm__("seep_space_capacity_of_this_file");
static inline __attribute__((unused)) void seep_space_capacity(const char *space, size_t bytes)
{
    void (*call)(const char *, size_t);

    SEEP_LOAD_("seep_space_capacity", call);
    if (call)
        call(space, bytes);
}

/* A request for a block of so many bytes in `space` was refused, after all that the allocator could
 * try. The report shows it as out of memory, with the stack of this call, what was live in the
 * space just then, and who held it. For "tensor:N" what is live in "device:N" counts as reserved.
 */
static inline void seep_block_refused(const char *space,
                                      size_t bytes) __asm__("seep_block_refused_of_this_file");
static inline __attribute__((unused)) void seep_block_refused(const char *space, size_t bytes)
{
    void (*call)(const char *, size_t);

    SEEP_LOAD_("seep_block_refused", call);
    if (call)
        call(space, bytes);
}

#undef SEEP_DEFINE_

#ifdef __cplusplus
}
#endif

#endif
