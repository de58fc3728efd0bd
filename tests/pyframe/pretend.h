/* Reads a 3.13 as if it were a 3.14: the same offsets, handed over in 3.14's _Py_DebugOffsets. So
 * the way that takes its layout from there runs without a 3.14; what only a 3.14 has is not covered
 * (tagged references, tail-calling handlers). Included by probe.c after pyframe.c. */
#include <string.h>

typedef uint64_t u64;

/* 3.13's and 3.14's, as far as they are read (Include/internal/pycore_debug_offsets.h). */
struct offsets_313 {
    char cookie[8];
    u64 version, free_threaded, runtime[3], interpreter[13], thread[9], frame[6], code[10],
        object[2], type[4], tuple[3], list[3], dict[3], floating[2], integer[3], bytes[3], text[4];
};

struct offsets_314 {
    char cookie[8];
    u64 version, free_threaded, runtime[3], interpreter[16], thread[9], frame[8], code[11],
        object[2], type[4], tuple[3], list[3], set[4], dict[3], floating[2], integer[3], bytes[3],
        text[4];
};

/* 0, or −1 where this is no 3.13 or the offsets were not accepted. */
static int pretend_314(void)
{
    static struct offsets_314 made;
    const struct offsets_313 *real = (const void *)python.image.runtime;

    if (python.layout == &python.own_layout)
        return 0;
    if (seep_python_version >> 16 != 0x030d || !python.layout)
        return -1;
    memcpy(made.cookie, real->cookie, 8);
    made.version = 0x030e00f0;
#define COPY(group) memcpy(made.group, real->group, sizeof(real->group))
    COPY(runtime), COPY(thread), COPY(frame), COPY(code), COPY(object), COPY(type), COPY(tuple);
    COPY(bytes), COPY(text);
#undef COPY
    if (!seep_pylayout_from_debug(&python.own_layout, (uintptr_t)&made) ||
        !seep_pylayout_fits(&python.own_layout, python.image.code_type, python.image.runtime))
        return -1;
    python.layout = &python.own_layout;
    follower = follow_own;
    key_place = KEY_UNKNOWN;
    made.free_threaded = 1;
    struct seep_python_layout refused;
    return seep_pylayout_from_debug(&refused, (uintptr_t)&made) ? -1 : 0;
}
