/* The objects loaded into this process: where their code and their unwind tables lie, and their
 * records in the profile. Threads: any. */
#ifndef SEEP_PRELOAD_MODULES_H
#define SEEP_PRELOAD_MODULES_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seep_lock;

struct seep_loaded {
    uintptr_t start, end; /* of its segments */
    uintptr_t bias;
    const uint8_t *eh_frame_hdr; /* NULL: none */
    uint32_t module;             /* ref of struct seep_module, 0: not interned (yet) */
    uint32_t id;                 /* changes whenever the object does */
};

/* The module that covers `address`. Asks the loader first whether its list has changed, and takes
 * for that the lock that dl_iterate_phdr() takes, never the one that is held while constructors run.
 * In a forked child it asks only where that lock is sure to be free. False: none. Never called with
 * seep_arena.lock held. */
bool seep_modules_find(uintptr_t address, struct seep_loaded *found);

/* The same of the list as it was last read. */
bool seep_modules_known(uintptr_t address, struct seep_loaded *found);

/* Path of the module that covers `address`, "" for the program. False: none, or no room. */
bool seep_modules_path(uintptr_t address, char *path, size_t capacity);

/* Ref of the struct seep_module that covers `address`, 0: none. Takes seep_arena.lock. */
uint32_t seep_modules_ref(uintptr_t address, uintptr_t *bias);

/* PyTorch's Python side has been loaded. */
extern bool seep_modules_torch;

/* Rereads the list if objects came or went. True when it has changed. Does nothing in a forked child
 * that may be alone with a lock that nobody gives back. */
bool seep_modules_refresh(void);

/* The same after a dlclose() of this process, which shows that the lock is free. */
void seep_modules_closed(void);

/* Counts the changes. */
extern uint32_t seep_modules_generation;

/* Called for each object of a list that has changed, under the loader's lock; and after objects have
 * gone, so that what was known of their code is forgotten. Set once, before the list is first read;
 * neither may call back but for seep_modules_known(). */
extern void (*seep_modules_on_object)(const struct dl_phdr_info *info);
extern void (*seep_modules_on_unload)(void);

/* _dl_find_object() of glibc 2.35 and later, or NULL; set once. */
struct seep_found_object {
    unsigned long long flags;
    void *start, *end;
    const void *map;
    void *eh_frame;
    unsigned long long reserved[7];
};
typedef int seep_find_object_fn(void *address, struct seep_found_object *found);
extern seep_find_object_fn *seep_modules_find_object;

void seep_modules_after_fork(void);

/* The locks, in the order in which they are taken: 0 and 1. */
struct seep_lock *seep_modules_lock(unsigned which);

#endif
