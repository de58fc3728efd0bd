/* The objects loaded into this process: where their code and their unwind tables lie, and their
 * records in the profile. Threads: any. */
#ifndef SEEP_PRELOAD_MODULES_H
#define SEEP_PRELOAD_MODULES_H

#include <stdbool.h>
#include <stdint.h>

struct seep_loaded {
    uintptr_t start, end; /* of its segments */
    uintptr_t bias;
    const uint8_t *eh_frame_hdr; /* NULL: none */
    uint32_t module;             /* ref of struct seep_module, 0: not interned (yet) */
    uint32_t id;                 /* changes whenever the object does */
};

/* The module that covers `address`; rereads the list when none does and it has changed. False:
 * none. Never called with seep_arena.lock held: it may wait for the loader's lock. */
bool seep_modules_find(uintptr_t address, struct seep_loaded *found);

/* Ref of the struct seep_module that covers `address`, 0: none. Takes seep_arena.lock. */
uint32_t seep_modules_ref(uintptr_t address, uintptr_t *bias);

/* PyTorch's Python side has been loaded. */
extern bool seep_modules_torch;

/* Rereads the list if objects came or went. True when it has changed. */
bool seep_modules_refresh(void);

void seep_modules_after_fork(void);

#endif
