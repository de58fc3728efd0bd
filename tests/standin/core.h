/* Stands in for a driver and two devices: the memory that they gave, and the calls made to them. It
 * is in libcuda.so.1, which runtimes open at their first call, as the real ones do; so two runtimes
 * of a process share it.
 *
 * Variables of the environment:
 *   STANDIN_CAPACITY  bytes of each device; default 8 GiB
 *   STANDIN_DEVICES   number of devices; default 2
 *   STANDIN_CONTEXT   bytes that a context takes on its device; default 64 MiB
 *   STANDIN_FAIL      CALL:N[,CALL:N…]: every N-th of these calls fails with "out of memory"
 *   STANDIN_DELAY_US  time between a change of the books and the call's return, in which other
 *                     threads get the address that was just freed
 *   STANDIN_VISIBLE   the driver maps and mallocs through libc inside its calls
 *   STANDIN_UNTOUCHED device memory is never written, so it takes none of the host's
 *   STANDIN_LOG       a process writes its calls there when it ends; %p is the process
 *   STANDIN_SHARED    a file in which processes keep what they use of the devices, so that they
 *                     see each other: they share the capacity, and NVML sees all of them */
#ifndef SEEP_STANDIN_CORE_H
#define SEEP_STANDIN_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STANDIN_MOST_DEVICES = 8 };

/* Errors have the same numbers in the runtime and the driver as far as these go. */
enum {
    STANDIN_OK = 0,
    STANDIN_INVALID = 1,
    STANDIN_NO_MEMORY = 2,
    STANDIN_NOT_INITIALIZED = 3, /* also what a forked child is told */
    STANDIN_UNLOADING = 4,
    STANDIN_NO_DRIVER = 35,
    STANDIN_NO_DEVICE = 100,
    STANDIN_INVALID_DEVICE = 101,
    STANDIN_INVALID_HANDLE = 400,
    STANDIN_NOT_FOUND = 500,
    STANDIN_ALREADY_REGISTERED = 712,
    STANDIN_NOT_REGISTERED = 713,
};

/* What a block is; the log has the live bytes of each. */
enum standin_kind {
    STANDIN_MALLOC,
    STANDIN_MANAGED,
    STANDIN_ARRAY,
    STANDIN_ASYNC,
    STANDIN_CREATED,  /* physical memory (cuMemCreate) */
    STANDIN_RESERVED, /* addresses only (cuMemAddressReserve) */
    STANDIN_MAPPED,   /* physical memory at such addresses: counted as created already */
    STANDIN_ALIAS,    /* another process's block (cudaIpcOpenMemHandle) */
    STANDIN_PINNED,   /* the host's memory from here on (device -1) */
    STANDIN_REGISTERED,
    STANDIN_KINDS
};
#define STANDIN_KIND_NAMES                                                                         \
    "malloc", "managed", "array", "async", "created", "reserved", "mapped", "alias", "pinned",     \
        "registered"

struct standin_block {
    uint64_t at, bytes; /* bytes as asked for */
    uint64_t other; /* of what is mapped: its physical memory; of that: how often it is mapped */
    void *beside;   /* what the driver mallocs for it in the visible mode */
    enum standin_kind kind;
    int device;
    bool released; /* physical memory that is kept by its maps alone */
};

struct standin_core {
    /* A call begins: it is counted, and a forked child or an injected failure ends it here. `slot`
     * is a place of the call's own that is 0 at first. Returns 0 or the error to return. */
    int (*begin)(int *slot, const char *name);
    int (*devices)(void);
    int *(*device)(void);             /* the calling thread's current one */
    void (*note)(const char *change); /* of the thread's state: "device" or "error" */
    void (*context)(int device);      /* is made unless it is there */
    bool (*has_context)(int device);
    void (*reset)(int device); /* ends it, and all that the process has there */
    uint64_t (*capacity)(void);
    uint64_t (*used)(int device); /* by all processes, contexts too */
    uint64_t (*live)(enum standin_kind kind, int device);

    /* 0 or an error; a block of no bytes is address 0. Not for what is mapped. */
    int (*take)(enum standin_kind kind, int device, uint64_t bytes, void **at);
    /* 0, or invalid where no block of such a kind (a mask) begins there. */
    int (*give)(unsigned kinds, const void *at);
    bool (*find)(const void *at, struct standin_block *block); /* the one that `at` lies in */
    int (*registers)(void *at, uint64_t bytes);                /* cudaHostRegister */
    int (*map)(void *at, uint64_t bytes, uint64_t physical);
    int (*unmap)(void *at, uint64_t bytes);
    /* Bytes are copied, or set where `from` is NULL, as far as they lie in blocks. */
    void (*copy)(void *to, const void *from, uint64_t bytes, int value);
};

/* Exported by libcuda.so.1. The second is for tests in other languages: `kind` is an enum
 * standin_kind. */
const struct standin_core *standin_core(void);
uint64_t standin_live(enum standin_kind kind, int device);

#endif
