/* A training of 80 steps that takes 64 pages more in each: 256 KiB on most machines.
 *   usage: rss_grows heap|small|untouched|instruction|handle|fixed
 * heap: malloc'd blocks. small: of 16 bytes, which take 32. untouched: four times as large, of
 * which a quarter is written to. instruction: maps by its own system call instruction, which no
 * hook sees. handle: blocks from malloc through libc's own handle, which no hook sees either.
 * fixed: none. */
#include "libprof/arch/arch.h"
#include "preload/seep.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROWTH (64 * (size_t)getpagesize())
enum { STEPS = 80, BLOCK = 64 << 10 /* less than libc gives a map of its own */ };

static void *by_instruction(size_t n)
{
    return (void *)seep_arch_call6(SYS_mmap, 0, (long)n, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *by_handle(void)
{
    static void *(*its_malloc)(size_t);
    if (!its_malloc)
        *(void **)&its_malloc = dlsym(dlopen("libc.so.6", RTLD_NOW), "malloc");
    for (size_t i = 1; i < GROWTH / BLOCK; i++)
        memset(its_malloc(BLOCK), 1, BLOCK);
    return memset(its_malloc(BLOCK), 1, BLOCK);
}

static void *by_small_blocks(void)
{
    enum { SMALL = 16, CHUNK = 32 };
    void **kept = NULL;
    for (size_t i = 0; i < GROWTH / CHUNK; i++) {
        void **block = malloc(SMALL);
        *block = kept;
        kept = block;
    }
    return kept;
}

/* Time passes, and seep's clock sees it. */
static void work(void)
{
    for (int i = 0; i < 60; i++) {
        usleep(1000);
        for (int k = 0; k < 64; k++) {
            char *volatile p = malloc(100);
            free(p);
        }
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fixed";
    static void *kept[STEPS];
    for (int step = 0; step < STEPS; step++) {
        if (strcmp(how, "heap") == 0)
            kept[step] = malloc(GROWTH);
        else if (strcmp(how, "untouched") == 0)
            kept[step] = malloc(4 * GROWTH);
        else if (strcmp(how, "instruction") == 0)
            kept[step] = by_instruction(GROWTH);
        if (kept[step])
            memset(kept[step], 1, GROWTH);
        if (strcmp(how, "small") == 0)
            kept[step] = by_small_blocks();
        if (strcmp(how, "handle") == 0)
            kept[step] = by_handle();
        work();
        seep_step();
    }
    printf("%p\n", kept[STEPS - 1]);
    return 0;
}
