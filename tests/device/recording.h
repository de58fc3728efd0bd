/* A process that records without hooks: a profile in /tmp, with this thread in it, inside the
 * guard. */
#ifndef SEEP_TESTS_DEVICE_RECORDING_H
#define SEEP_TESTS_DEVICE_RECORDING_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libprof/runtime/store/intern.h"
#include "preload/device/device_blocks.h"
#include "preload/job/job.h"
#include "preload/record/upcalls.h"
#include "tests/suite.h"

/* Nothing above is here. */
const struct seep_upcalls seep_upcalls;

static char recording_path[64];
static struct seep_thread recording_thread;

static inline void recording_begin_with(uint64_t max_bytes)
{
    static const char *const names[] = {"host", "mmap", "shm"};
    const struct seep_header constants = {
        .max_bytes = max_bytes, .inherited_end = SEEP_HEADER_BYTES, .pid = 1};
    snprintf(recording_path, sizeof(recording_path), "/tmp/seep-test-%d.seep", getpid());
    unlink(recording_path);
    ck_assert_int_eq(seep_arena_create(recording_path, &constants), 0);
    for (unsigned i = 0; i < 3; i++)
        strcpy(seep_arena.header->spaces[i].name, names[i]);
    seep_sites_first_own = SEEP_HEADER_BYTES / 64;
    memset(&recording_thread, 0, sizeof(recording_thread));
    seep_tls.thread = &recording_thread;
    seep_tls.depth = 1;
}

static inline void recording_begin(void)
{
    recording_begin_with(64 << 20);
}

static inline void recording_end(void)
{
    unlink(recording_path);
}

/* The site of a made-up stack. */
static inline uint32_t recording_site(uint32_t stack, unsigned space)
{
    ck_assert(seep_os_lock(&seep_arena.lock));
    const uint32_t frame = seep_intern_frame(SEEP_FRAME_NATIVE, 0, stack + 1);
    const uint32_t node = seep_intern_stack(0, frame);
    seep_os_unlock(&seep_arena.lock);
    return seep_site_find(&recording_thread.sites, node, space);
}

#endif
