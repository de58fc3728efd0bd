/* NVIDIA's management library (NVML): which devices there are, and how much of each every process
 * uses, without a context. Its calls may hang with the driver, so call it in a separate process. */
#ifndef SEEP_VIEWER_WATCH_NVML_H
#define SEEP_VIEWER_WATCH_NVML_H

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_NVML_DEVICES = 64, SEEP_NVML_USERS = 256, SEEP_NVML_UUID = 96 };

struct seep_nvml;

/* What NVML reports about one device. */
struct seep_nvml_use {
    uint64_t capacity_bytes; /* 0: not told, of a device without memory of its own */
    uint64_t used_bytes;     /* by all processes */
    unsigned n_users;
    struct {
        uint32_t pid;
        uint64_t bytes; /* 0: unknown */
    } users[SEEP_NVML_USERS];
};

/* Loads and initialises the library; NULL: there is none. Never unloaded. */
const struct seep_nvml *seep_nvml_open(void);

unsigned seep_nvml_count(const struct seep_nvml *nvml);

/* False: there is no answer. */
bool seep_nvml_ask(const struct seep_nvml *nvml, unsigned index, struct seep_nvml_use *use);

/* The NVML index of the process's device `number` under `visible` (CUDA_VISIBLE_DEVICES; NULL: not
 * set), a list of numbers, or of identities or their prefixes. −1: none, or unknown. */
int seep_nvml_index(const struct seep_nvml *nvml, const char *visible, unsigned number);

/* The same for a given list of identities, so that tests can make them up. */
int seep_nvml_index_in(const char (*uuids)[SEEP_NVML_UUID], unsigned n, const char *visible,
                       unsigned number);

#endif
