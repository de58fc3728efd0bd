/* The objects loaded into this process: where their code and unwind tables are, and their records
 * in the profile. Nobody waits for the loader here (see loader.h), and a lookup waits for nobody.
 * Threads: any. */
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

/* The module that contains `address`, if the caller keeps it from being unloaded: its code is on
 * the stack. A new one is entered. False: none. Never called with seep_arena.lock held. */
bool seep_modules_find(uintptr_t address, struct seep_loaded *found);

/* The same, only among entered modules. */
bool seep_modules_known(uintptr_t address, struct seep_loaded *found);

/* Path of the module that contains `address`, "" for the program. False: none, or no room. */
bool seep_modules_path(uintptr_t address, char *path, size_t capacity);

/* Ref of the struct seep_module that contains `address`, 0: none. Takes seep_arena.lock. */
uint32_t seep_modules_ref(uintptr_t address, uintptr_t *bias);

/* The module at `index` in the order of addresses. False: there are not that many. */
bool seep_modules_at(unsigned index, struct seep_loaded *found, char *path, size_t capacity);

/* Whether PyTorch's Python side has been loaded; whether NVIDIA's driver library has. */
extern bool seep_modules_torch;
extern bool seep_modules_cuda;

/* Enters all new objects of the loader's list. Cheap if there are none. True if there were any. */
bool seep_modules_refresh(void);

/* After a dlclose() in this process: drops what was unloaded. */
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
