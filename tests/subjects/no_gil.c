/* To whoever reads it from outside, a CPython without a GIL: what an interpreter exports, the head of
 * its table of offsets, and a type that only crashes or misleads who takes it for one of a build
 * with a GIL. Like one it ends if it is asked for another allocator than its own. It keeps a block in
 * each of its rounds, says that it is done, and waits for the end of its input.
 *
 * usage: python3.14t ROUNDS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define VERSION 0x030e0af0u

struct {
    char cookie[8];
    uint64_t version, free_threaded, offsets[2000];
} _PyRuntime = {"xdebugpy", VERSION, 1, {0}};

const unsigned long Py_Version = VERSION;
unsigned char PyCode_Type[1024], PyCell_Type[1024];

const char *Py_GetVersion(void)
{
    return "3.14.10";
}

void *PyGILState_GetThisThreadState(void)
{
    static char state[4096];

    memset(state, 0xff, sizeof state);
    return state;
}

void *volatile kept[1000];

__attribute__((noinline)) void _PyEval_EvalFrameDefault(unsigned round)
{
    kept[round % 1000] = malloc(20000);
    memset(kept[round % 1000], 1, 20000);
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    const char *allocator = getenv("PYTHONMALLOC");
    char c;

    if (allocator && strcmp(allocator, "malloc") == 0)
        return 1;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    memset(PyCode_Type, 0xff, sizeof PyCode_Type);
    for (unsigned round = 0; round < rounds; round++) {
        _PyEval_EvalFrameDefault(round);
        usleep(10000);
    }
    puts("done");
    fflush(stdout);
    while (read(0, &c, 1) > 0)
        ;
    return 0;
}
