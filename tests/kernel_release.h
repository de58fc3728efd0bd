/* What depends on the kernel's age. */
#ifndef SEEP_TESTS_KERNEL_RELEASE_H
#define SEEP_TESTS_KERNEL_RELEASE_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/utsname.h>

static inline bool kernel_is_since(int major, int minor)
{
    struct utsname names;
    int its_major = 0, its_minor = 0;

    ck_assert_int_eq(uname(&names), 0);
    ck_assert_int_eq(sscanf(names.release, "%d.%d", &its_major, &its_minor), 2);
    return its_major > major || (its_major == major && its_minor >= minor);
}

#endif
