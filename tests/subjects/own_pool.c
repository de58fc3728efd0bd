/* Allocators of the program's own that can be full, on a made-up device and in a pool: what they
 * hold, can hold and refuse is announced through seep.h. usage: own_pool SECTION */
#include "preload/seep.h"
#include "sections.h"

#include <stdint.h>
#include <stdlib.h>

enum { MIB = 1 << 20, SEGMENTS = 8, STEPS = 100 };

static void *at(size_t address)
{
    return (void *)(uintptr_t)(((uint64_t)1 << 40) + address);
}

static void refuse(const char *space, size_t bytes)
{
    seep_block_refused(space, bytes); /* LINE refused */
}

/* Each segment of 8 MiB has a block of 6: 16 MiB are free, none of them in a piece that holds 7. */
static void fragmented(void)
{
    seep_space_capacity("device:0", (size_t)SEGMENTS * 8 * MIB);
    for (size_t i = 0; i < SEGMENTS; i++) {
        seep_block_made("device:0", at(i * 8 * MIB), 8 * MIB);
        seep_block_made("tensor:0", at(i * 8 * MIB), 6 * MIB);
    }
    seep_step();
    refuse("tensor:0", 7 * MIB);
    exit(1);
}

/* A pool of 1 MiB from which a block is lost each step. */
static void leak(void)
{
    seep_space_capacity("scratch", MIB);
    for (size_t i = 0;; i++) {
        if ((i + 1) * 10000 > MIB) {
            refuse("scratch", 10000);
            exit(1);
        }
        seep_block_made("scratch", at(i * 10000), 10000); /* LINE lost */
        seep_step();
    }
}

/* It does without what it cannot get. */
static void caught(void)
{
    seep_space_capacity("scratch", MIB);
    seep_block_made("scratch", at(0), MIB - 4096);
    for (int i = 0; i < STEPS; i++) {
        refuse("scratch", 8192);
        seep_step();
    }
}

/* The device is known, and that is all. */
static void known(void)
{
    seep_space_capacity("device:1", 80 * (size_t)MIB);
    seep_space_capacity("device:1", 40 * (size_t)MIB);
    seep_space_capacity("host", MIB);
    seep_space_capacity("a name with spaces", MIB);
    seep_space_capacity(NULL, MIB);
    seep_block_refused("mmap", MIB);
    seep_block_refused("", MIB);
    seep_block_refused(NULL, MIB);
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {
        {"fragmented", fragmented}, {"leak", leak}, {"caught", caught}, {"known", known}};

    return run_section(argc, argv, sections, sizeof sections / sizeof *sections);
}
