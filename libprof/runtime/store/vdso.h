/* The code that the kernel itself maps into a process (the vDSO). Linux links it at 0; gVisor and
 * User-Mode Linux link it elsewhere, and another kernel may hand over anything. So nothing in it is
 * used before it was checked: any bytes are safe.
 *
 * Runtime part: no allocation, no lock. Threads: any. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_VDSO_H
#define SEEP_LIBPROF_RUNTIME_STORE_VDSO_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct seep_vdso {
    uintptr_t start,
        end;        /* of the image; a page if its headers are not usable; 0, 0: there is none */
    uintptr_t bias; /* what its linked addresses lack */
    bool is_linux;  /* linked at 0: its coarse clocks never make a system call */
    uintptr_t symbols, names; /* 0: headers that are not usable */
};

/* Reads the image whose ELF header is at `at`, 0: none. False: nothing in it can be used. Asks the
 * kernel whether its pages can be read (seep_os_readable()). */
bool seep_vdso_read(struct seep_vdso *vdso, uintptr_t at);

/* The address of a function in it, by a name of at most 31 characters; 0: it has none. */
uintptr_t seep_vdso_function(const struct seep_vdso *vdso, const char *name);

/* Where this process's own begins, if the address lies in it; else 0. By its first page, which the
 * loader has read before; no system call. */
uintptr_t seep_vdso_around(const void *address);

#endif
