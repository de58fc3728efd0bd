/* Looks libraries up as a job would. Initialises none: that would create a context on the device. A
 * machine without a GPU lacks nothing. */
#include "viewer/doctor.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first of the names that the loader finds, and its path; NULL where it finds none. */
static void *find_library(const char *const *names, const char **path)
{
    for (; *names; names++) {
        void *handle = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);
        struct link_map *map;
        if (!handle)
            continue;
        *path = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : *names;
        return handle;
    }
    return NULL;
}

static bool device_nodes(void)
{
    glob_t matches;
    bool found = glob("/dev/nvidia[0-9]*", 0, NULL, &matches) == 0;

    if (found)
        globfree(&matches);
    return found || access("/dev/dxg", F_OK) == 0; /* WSL */
}

static void check_driver(void)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    const char *path;
    void *handle = find_library(names, &path);
    int version = 0;

    if (!handle && !device_nodes()) {
        seep_doctor_line("GPU", SEEP_DOCTOR_ABSENT, "no NVIDIA driver and no GPU");
        return;
    }
    if (!handle) {
        seep_doctor_line("GPU", SEEP_DOCTOR_PARTLY,
                         "a GPU, but no libcuda.so.1: install the driver's libraries");
        return;
    }
    int (*get)(int *);
    *(void **)&get = dlsym(handle, "cuDriverGetVersion");
    if (get)
        (void)get(&version);
    seep_doctor_line("GPU", device_nodes() ? SEEP_DOCTOR_OK : SEEP_DOCTOR_PARTLY,
                     "driver for CUDA %d.%d, %s%s", version / 1000, version % 1000 / 10, path,
                     device_nodes() ? "" : ", but no GPU");
    seep_doctor_line(
        "GPU", SEEP_DOCTOR_PARTLY,
        "tensors and memory of a shared CUDA runtime are recorded; memory of a static one is not");
}

static void check_library(const char *subject, const char *const *names)
{
    const char *path;

    if (find_library(names, &path))
        seep_doctor_line(subject, SEEP_DOCTOR_OK, "%s", path);
    else
        seep_doctor_line(subject, SEEP_DOCTOR_ABSENT, "%s is not among the system's libraries",
                         names[0]);
}

void seep_doctor_gpu(void)
{
    static const char *const runtimes[] = {"libcudart.so.13", "libcudart.so.12",
                                           "libcudart.so.11.0", "libcudart.so", NULL};
    static const char *const cuptis[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so", NULL};

    check_driver();
    check_library("CUDA", runtimes);
    check_library("CUPTI", cuptis);
}
