/* The objects loaded into this process: where their code and their unwind tables lie, and their
 * records in the profile. Nobody waits for the loader here (see loader.h), and who asks waits for
 * nobody. Threads: any. */
#ifndef SEEP_PRELOAD_OBJECTS_MODULES_H
#define SEEP_PRELOAD_OBJECTS_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/objects/loader.h"

struct seep_lock;

struct seep_loaded {
    uintptr_t start, end; /* of its segments */
    uintptr_t bias;
    const uint8_t *eh_frame_hdr; /* NULL: none */
    const ElfW(Dyn) * dynamic;
    uint32_t module; /* ref of struct seep_module, 0: not interned (yet) */
    uint32_t id;     /* changes whenever the object does */
};

/* The module that covers `address`, where the caller keeps it from going: its code is on the stack.
 * One that is new is entered. False: none. Never called with seep_arena.lock held. */
bool seep_modules_find(uintptr_t address, struct seep_loaded *found);

/* The same of what has been entered. */
bool seep_modules_known(uintptr_t address, struct seep_loaded *found);

/* Path of the module that covers `address`, "" for the program. False: none, or no room. */
bool seep_modules_path(uintptr_t address, char *path, size_t capacity);

/* Ref of the struct seep_module that covers `address`, 0: none. Takes seep_arena.lock. */
uint32_t seep_modules_ref(uintptr_t address, uintptr_t *bias);

/* The module whose place in the order of addresses is `index`. False: there are not so many. */
bool seep_modules_at(unsigned index, struct seep_loaded *found, char *path, size_t capacity);

/* PyTorch's Python side has been loaded; the driver's library of NVIDIA's GPUs has. */
extern bool seep_modules_torch;
extern bool seep_modules_cuda;

/* Enters all of the loader's list that is new. Cheap where nothing is. True when anything was. */
bool seep_modules_refresh(void);

/* After a dlclose() of this process: drops what has gone. */
void seep_modules_closed(void);

/* Counts the changes. */
extern uint32_t seep_modules_generation;

/* Called for each object that is entered; and after objects have gone, so that what was known of
 * their code is forgotten. Set once, at start; neither may call back but for seep_modules_known().
 */
extern void (*seep_modules_on_object)(const struct seep_object *object);
extern void (*seep_modules_on_unload)(void);

void seep_modules_after_fork(void);
struct seep_lock *seep_modules_lock(void);

#endif
