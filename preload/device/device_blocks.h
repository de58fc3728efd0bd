/* The books of memory that is not of the malloc family and not mapped: blocks of an allocator of
 * the job's own, of PyTorch's, of a device's driver, each in a space with a name. Spaces overlap (a
 * tensor lies in a segment of its device, whose addresses may be the host's too), so a block is
 * known by its address and the *keyspace* that it lies on: its space's number, or one for all
 * blocks that are freed by address alone, whatever their space. Inside the guard only. */
#ifndef SEEP_PRELOAD_DEVICE_DEVICE_BLOCKS_H
#define SEEP_PRELOAD_DEVICE_DEVICE_BLOCKS_H

#include "libprof/runtime/store/live_blocks.h"
#include "preload/record/thread.h"

/* Above the numbers of spaces. Those of one device go with it. */
enum seep_keyspace {
    SEEP_KEYSPACE_FIRST_OF_DEVICE = 0xf0,
    SEEP_KEYSPACE_DEVICE = SEEP_KEYSPACE_FIRST_OF_DEVICE, /* by address */
    SEEP_KEYSPACE_ARRAY,                                  /* by handle */
    SEEP_KEYSPACE_MAPPED, /* from the driver, at an address of the process */
    SEEP_KEYSPACE_LAST_OF_DEVICE = SEEP_KEYSPACE_MAPPED,
    SEEP_KEYSPACE_PINNED,
    SEEP_KEYSPACE_REGISTERED, /* pinned, but allocated by somebody else */
    SEEP_KEYSPACE_PHYSICAL,   /* by handle: memory that may be mapped */
    SEEP_KEYSPACE_UNMAPPING,  /* mappings that are being unmapped */
};

/* The space of that name, entered if it is new. 0: it is one of the hooks' own, it is not a name,
 * or there is no room for one more, which is counted. */
unsigned seep_device_blocks_enter(const char *name);

/* The same for an existing one; 0: none. */
unsigned seep_device_blocks_find(const char *name);

/* The space "PREFIX:N" of a device, entered if it is new; `prefix` has 6 characters. 0: none. */
unsigned seep_device_blocks_of_device(const char *prefix, unsigned device);

/* The same for an existing one; 0: none. */
unsigned seep_device_blocks_find_of_device(const char *prefix, unsigned device);

/* N of a space "PREFIX:N"; SEEP_MAX_DEVICES for any other space. */
unsigned seep_device_blocks_number(const char *prefix, unsigned space);

/* A block was made, which belongs to `site` (0: it could not be recorded, which is counted). A
 * block that was at its address before is gone. */
void seep_device_blocks_made(unsigned keyspace, const void *address, uint64_t bytes, uint32_t site);

/* Returns the bytes of the block that is gone; 0: no block was known. */
uint64_t seep_device_blocks_gone(unsigned keyspace, const void *address);

/* The same in two parts, around a free that may fail: the block is removed from its keyspace,
 * then settled or put back. False: no block was known. */
bool seep_device_blocks_take(unsigned keyspace, const void *address, struct seep_block *block);
void seep_device_blocks_settle(const struct seep_block *block);
void seep_device_blocks_put_back(unsigned keyspace, const void *address,
                                 const struct seep_block *block);

/* Every block in the keyspaces of spaces and of devices, as seep_live_spill_visit() visits them:
 * the address is the block's. False: nobody could be visited. */
typedef void seep_device_blocks_visitor(unsigned keyspace, uintptr_t address,
                                        const struct seep_block *block, void *arg);
bool seep_device_blocks_each(seep_device_blocks_visitor *visit, void *arg);

/* Whether a block was made in `space`. */
bool seep_device_blocks_is_in(const struct seep_block *block, unsigned space);

/* All blocks of `space` in the keyspaces of devices are gone. */
void seep_device_blocks_clear(unsigned space);

#endif
