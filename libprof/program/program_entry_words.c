#include <stdio.h>

#include "libprof/program/program_entry_words.h"

static const struct {
    const char *what, *advice;
} words[] = {
    [SEEP_ENTRY_OK] = {"", ""},
    [SEEP_ENTRY_STATIC] = {"is a static program, where LD_PRELOAD has no effect",
                           "link it dynamically"},
    [SEEP_ENTRY_RIGHTS] = {"gains rights (setuid, setgid or file capabilities), so LD_PRELOAD is "
                           "dropped",
                           "run seep inside of it instead"},
    [SEEP_ENTRY_MACHINE] = {"is not a 64-bit program for this processor",
                            "run a build for the processor that libseep.so is for"},
    [SEEP_ENTRY_LIBC] = {"is linked with another C library, and libseep.so needs glibc",
                         "run a glibc build of it"},
    [SEEP_ENTRY_SANITIZER] = {"brings a sanitizer, whose runtime must come first and has a malloc "
                              "of its own",
                              "run a build without it"},
    [SEEP_ENTRY_DAMAGED] = {"is a damaged program", "build or install it again"},
    [SEEP_ENTRY_UNREACHABLE] = {"runs where libseep.so or the profile's folder cannot be reached "
                                "(chroot, bwrap or another container)",
                                "bind both into it, at the same paths"},
};

enum { N_WORDS = sizeof words / sizeof *words };

const char *seep_entry_words(enum seep_entry entry)
{
    return (unsigned)entry < N_WORDS ? words[entry].what : "cannot be entered";
}

const char *seep_entry_advice(enum seep_entry entry)
{
    return (unsigned)entry < N_WORDS ? words[entry].advice : "run another build of it";
}

const char *seep_entry_describe(const struct seep_program_entry *e, char *text, size_t capacity)
{
    if (e->entry == SEEP_ENTRY_RIGHTS && e->detail[0] == 's')
        snprintf(text, capacity, "is a %s program, where LD_PRELOAD is dropped", e->detail);
    else if (e->entry == SEEP_ENTRY_RIGHTS && e->detail[0])
        snprintf(text, capacity, "has %s, where LD_PRELOAD is dropped", e->detail);
    else if (e->entry == SEEP_ENTRY_LIBC && e->detail[0])
        snprintf(text, capacity, "wants the loader %s, and libseep.so needs glibc", e->detail);
    else if (e->entry == SEEP_ENTRY_SANITIZER && e->detail[0])
        snprintf(text, capacity,
                 "brings a sanitizer (%s), whose runtime must come first and has a malloc of its "
                 "own",
                 e->detail);
    else
        snprintf(text, capacity, "%s", seep_entry_words(e->entry));
    return text;
}
