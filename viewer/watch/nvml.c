#include "viewer/watch/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { TOO_SMALL = 7, NOT_TOLD_ABOVE = 48 /* bits */ };

/* As laid out by the second and third version of the library's call. */
struct user {
    unsigned pid;
    unsigned long long bytes;
    unsigned parts[2];
};

struct memory {
    unsigned long long total, available, used;
};

struct seep_nvml {
    int (*memory)(void *, struct memory *);
    int (*users)(void *, unsigned *, struct user *);
    unsigned n;
    void *devices[SEEP_NVML_DEVICES];
    char uuids[SEEP_NVML_DEVICES][SEEP_NVML_UUID];
};

static void *find_users(void *library)
{
    void *users = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");

    return users ? users : dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v2");
}

static void list_devices(struct seep_nvml *nvml, void *library)
{
    int (*count)(unsigned *), (*device)(unsigned, void **), (*uuid)(void *, char *, unsigned);
    unsigned n = 0;

    *(void **)&count = dlsym(library, "nvmlDeviceGetCount_v2");
    *(void **)&device = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&uuid = dlsym(library, "nvmlDeviceGetUUID");
    if (!count || !device || !uuid || count(&n))
        return;
    for (unsigned i = 0; i < n && i < SEEP_NVML_DEVICES; i++) {
        if (device(i, &nvml->devices[i]))
            return; /* later indices would be those of other devices */
        (void)uuid(nvml->devices[i], nvml->uuids[i], SEEP_NVML_UUID - 1);
        nvml->n = i + 1;
    }
}

const struct seep_nvml *seep_nvml_open(void)
{
    static struct seep_nvml nvml;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*start)(void);

    if (!library)
        return NULL;
    *(void **)&start = dlsym(library, "nvmlInit_v2");
    *(void **)&nvml.memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
    *(void **)&nvml.users = find_users(library);
    if (!start || !nvml.memory || !nvml.users || start())
        return NULL;
    list_devices(&nvml, library);
    return &nvml;
}

unsigned seep_nvml_count(const struct seep_nvml *nvml)
{
    return nvml->n;
}

bool seep_nvml_ask(const struct seep_nvml *nvml, unsigned index, struct seep_nvml_use *use)
{
    struct user users[SEEP_NVML_USERS] = {0};
    struct memory memory = {0};
    unsigned n = SEEP_NVML_USERS;

    if (index >= nvml->n)
        return false;
    /* A GPU without memory of its own, as GB10's, takes the host's: then only its users tell. */
    const bool has_own = nvml->memory(nvml->devices[index], &memory) == 0;
    *use = (struct seep_nvml_use){.capacity_bytes = memory.total, .used_bytes = memory.used};
    if (nvml->users(nvml->devices[index], &n, users))
        return has_own;
    for (unsigned i = 0; i < n && i < SEEP_NVML_USERS; i++) {
        use->users[i].pid = users[i].pid;
        use->users[i].bytes = users[i].bytes >> NOT_TOLD_ABOVE ? 0 : users[i].bytes;
        use->used_bytes += has_own ? 0 : use->users[i].bytes;
        use->n_users = i + 1;
    }
    return true;
}

/* Finds a number, or a prefix that only one identity has. */
static int find_one(const char (*uuids)[SEEP_NVML_UUID], unsigned n, const char *text,
                    size_t length)
{
    int found = -1;

    if (length && strspn(text, "0123456789") >= length && length < 4)
        return (unsigned)atoi(text) < n ? atoi(text) : -1;
    for (unsigned i = 0; i < n && length > strlen("GPU-"); i++) {
        if (strncmp(uuids[i], text, length) != 0)
            continue;
        if (found >= 0)
            return -1;
        found = (int)i;
    }
    return found;
}

int seep_nvml_index_in(const char (*uuids)[SEEP_NVML_UUID], unsigned n, const char *visible,
                       unsigned number)
{
    if (!visible)
        return number < n ? (int)number : -1;
    for (const char *at = visible;;) {
        at += strspn(at, " ");
        const size_t length = strcspn(at, " ,");
        const int index = find_one(uuids, n, at, length);
        if (index < 0 || number-- == 0) /* devices after an invalid entry are not visible */
            return index;
        at += length;
        at += strspn(at, " ");
        if (*at++ != ',')
            return -1;
    }
}

int seep_nvml_index(const struct seep_nvml *nvml, const char *visible, unsigned number)
{
    return seep_nvml_index_in(nvml->uuids, nvml->n, visible, number);
}
