/* The management library of NVIDIA's driver (NVML): what devices there are, and what each process
 * uses of them, asked without a context. Its calls may hang with the driver: for a process of its
 * own. */
#ifndef SEEP_VIEWER_WATCH_NVML_H
#define SEEP_VIEWER_WATCH_NVML_H

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_NVML_DEVICES = 64, SEEP_NVML_USERS = 256, SEEP_NVML_UUID = 96 };

struct seep_nvml;

/* What a device says of itself. */
struct seep_nvml_use {
    uint64_t capacity_bytes;
    uint64_t used_bytes; /* by all */
    unsigned n_users;
    struct {
        uint32_t pid;
        uint64_t bytes; /* 0: it does not tell */
    } users[SEEP_NVML_USERS];
};

/* Loads and starts it; NULL: there is none. Never unloaded. */
const struct seep_nvml *seep_nvml_open(void);

unsigned seep_nvml_count(const struct seep_nvml *nvml);

/* False: it does not answer. */
bool seep_nvml_ask(const struct seep_nvml *nvml, unsigned index, struct seep_nvml_use *use);

/* Which of NVML's devices is the process's device `number`, as `visible` (CUDA_VISIBLE_DEVICES;
 * NULL: not set) has it: a list of numbers, or of identities or their beginnings. −1: none, or it
 * cannot be told. */
int seep_nvml_index(const struct seep_nvml *nvml, const char *visible, unsigned number);

/* The same with identities as they are given; tests make them up. */
int seep_nvml_index_in(const char (*uuids)[SEEP_NVML_UUID], unsigned n, const char *visible,
                       unsigned number);

#endif
