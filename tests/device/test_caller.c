/* Which function a call would have reached, among made-up libraries (made_up.c): this program is
 * what stands in front of them all. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "preload/device/caller.h"
#include "preload/objects/modules.h"
#include "preload/record/upcalls.h"
#include "tests/suite.h"

/* Nothing above is here. */
const struct seep_upcalls seep_upcalls;

static void *load(const char *name, int flags)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    ck_assert_int_gt(n, 0);
    path[n] = '\0';
    *strrchr(path, '/') = '\0';
    const size_t used = strlen(path);
    snprintf(path + used, sizeof(path) - used, "/made_up/lib%s.so", name);
    void *library = dlopen(path, RTLD_NOW | flags);
    ck_assert_msg(library != NULL, "%s", dlerror());
    return library;
}

static uintptr_t inside(void *library)
{
    return (uintptr_t)dlsym(library, "here");
}

/* What the function that a call from `ra` would reach adds; 0: there is none. */
static int reached_from(uintptr_t ra)
{
    int (*real)(int);
    *(void **)&real = seep_caller_real(ra, SEEP_HOOK_cudaSetDevice);
    return real ? real(0) : 0;
}

enum { ONE = 100, TWO = 200 };

TEST(a_library_reaches_its_own_function)
{
    void *one = load("one", RTLD_LOCAL), *two = load("two", RTLD_LOCAL);
    ck_assert_int_eq(reached_from(inside(two)), TWO);
    ck_assert_int_eq(reached_from(inside(one)), ONE);
}

TEST(a_library_reaches_the_one_that_it_needs_though_another_was_loaded_before)
{
    (void)load("one", RTLD_GLOBAL);
    ck_assert_int_eq(reached_from(inside(load("needs_two", RTLD_LOCAL))), TWO);
}

TEST(what_is_needed_nearer_comes_first)
{
    void *far = load("needs_far", RTLD_LOCAL);
    ck_assert_int_eq(reached_from(inside(far)), ONE);
    ck_assert_int_eq(reached_from(inside(load("needs_two", RTLD_LOCAL))), TWO);
}

TEST(who_needs_none_reaches_the_first_that_is_loaded)
{
    void *none = load("needs_none", RTLD_LOCAL);
    ck_assert_int_eq(reached_from(inside(none)), 0);
    (void)load("two", RTLD_GLOBAL);
    (void)load("one", RTLD_GLOBAL);
    ck_assert_int_eq(reached_from(inside(none)), TWO);
}

TEST(a_function_that_nobody_has_is_none)
{
    void *two = load("two", RTLD_LOCAL);
    ck_assert_ptr_null(seep_caller_real(inside(two), SEEP_HOOK_cudaFree));
    ck_assert_ptr_null(seep_caller_anyone("cudaFree"));
    ck_assert_ptr_eq(seep_caller_anyone("cudaSetDevice"), dlsym(two, "cudaSetDevice"));
}

/* What was found for the caller that lay there before is not believed. */
TEST(a_library_that_was_loaded_anew_is_looked_at_anew)
{
    (void)load("one", RTLD_GLOBAL);
    for (int i = 0; i < 3; i++) {
        void *needs = load(i % 2 ? "needs_none" : "needs_two", RTLD_LOCAL);
        ck_assert_int_eq(reached_from(inside(needs)), i % 2 ? ONE : TWO);
        ck_assert_int_eq(reached_from(inside(needs)), i % 2 ? ONE : TWO);
        ck_assert_int_eq(dlclose(needs), 0);
        seep_modules_closed();
    }
}

/* A function that a call was passed on to ends with a jump to another one that is hooked: it
 * returns to our own code. */
TEST(a_call_that_comes_from_us_is_that_of_whom_we_called_last)
{
    const uintptr_t ours = (uintptr_t)reached_from;
    (void)load("one", RTLD_GLOBAL);
    void *two = load("two", RTLD_LOCAL);
    ck_assert_int_eq(reached_from(ours), ONE); /* nobody yet */
    ck_assert_int_eq(reached_from(inside(two)), TWO);
    ck_assert_int_eq(reached_from(ours), TWO);
}

SUITE("the function behind a hook")
