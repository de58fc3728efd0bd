/* Makes preload/python/pyframe.h callable from Python by ctypes, and, preloaded, calls it from
 * every allocation as the shim does.
 *
 *   probe_stack   a line with the number of evaluation loops on the native stack, then the Python
 *                 stack: one line per frame, innermost first, its fields (file, function,
 *                 qualified name, first line, line) separated by '\1'
 *   probe_local   seep_python_first_local()
 *   probe_bench   the mean cost of following a stack that stays, in ns
 *   probe_call    runs `function` in a new thread of C; then how many frames that thread shows
 *   probe_events  allocations with a Python stack (preloaded only) */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unwind.h>

#ifdef PRETEND_314
#include "preload/python/pyframe.c"
#include "tests/pyframe/pretend.h"
#else
#include "preload/python/pyframe.h"
#endif

#define EXPORT __attribute__((visibility("default")))

static __thread int inside __attribute__((tls_model("initial-exec")));
static __thread struct seep_pystack *stacks __attribute__((tls_model("initial-exec"))); /* two */
static unsigned long n_events, n_described, checksum;

__attribute__((constructor)) static void begin(void)
{
    seep_python_attach();
}

/* Returns 0, or −1 where another version cannot be pretended. */
EXPORT int probe_attach(void)
{
    seep_python_attach();
#ifdef PRETEND_314
    return pretend_314();
#else
    return 0;
#endif
}

EXPORT unsigned probe_version(void)
{
    return seep_python_version;
}

static char *put(char *at, char *end, const char *text, size_t n, char last)
{
    if ((size_t)(end - at) < n + 1)
        return at;
    memcpy(at, text, n);
    at[n] = last;
    return at + n + 1;
}

static char *put_number(char *at, char *end, unsigned value, char last)
{
    char digits[12];
    unsigned i = sizeof(digits);

    do {
        digits[--i] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return put(at, end, digits + i, sizeof(digits) - i, last);
}

static _Unwind_Reason_Code count_eval(struct _Unwind_Context *context, void *n)
{
    *(unsigned *)n += seep_python_is_eval((uintptr_t)_Unwind_GetIP(context) - 1);
    return _URC_NO_REASON;
}

static unsigned line_of(const struct seep_pyframe *frame)
{
    static __thread struct seep_pyline_memo memos[4] __attribute__((tls_model("initial-exec")));
    return seep_python_line(frame, frame->code + seep_python_fingerprint(frame->code),
                            &memos[frame->code / 64 % 4]);
}

/* The stack as followed from call to call, held against one that is read anew. */
static unsigned follow(void)
{
    if (!stacks && (stacks = mmap(NULL, 2 * sizeof(*stacks), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) == MAP_FAILED)
        abort();
    struct seep_pystack *stack = &stacks[0], *anew = &stacks[1];
    anew->n = 0;
    seep_python_follow(anew);
    seep_python_follow(stack);
    if (stack->n != anew->n || seep_pystack_hash(stack) != seep_pystack_hash(anew) ||
        memcmp(seep_pystack_frames(stack), seep_pystack_frames(anew),
               stack->n * sizeof(struct seep_pyframe)) != 0)
        abort();
    return stack->n;
}

/* Returns the number of frames, −1 when one could not be described. */
EXPORT int probe_stack(char *out, size_t size)
{
    struct seep_pycode_info info;
    char *at = out, *end = out + size - 1;
    const unsigned n = follow();
    const struct seep_pyframe *frames = seep_pystack_frames(stacks);
    int result = (int)n;
    unsigned n_loops = 0;

    _Unwind_Backtrace(count_eval, &n_loops);
    at = put_number(at, end, n_loops, '\n');
    for (unsigned i = 0; i < n; i++) {
        if (seep_python_describe(frames[i].code, &info) != 0 ||
            !seep_python_fingerprint(frames[i].code)) {
            result = -1;
            continue;
        }
        at = put(at, end, info.file, info.file_len, 1);
        at = put(at, end, info.function, info.function_len, 1);
        at = put(at, end, info.qualname, info.qualname_len, 1);
        at = put_number(at, end, info.first_line, 1);
        at = put_number(at, end, line_of(&frames[i]), '\n');
    }
    *at = 0;
    return result;
}

EXPORT void *probe_local(unsigned depth)
{
    return (void *)seep_python_first_local(depth);
}

EXPORT double probe_bench(unsigned rounds)
{
    struct timespec start, end;
    unsigned n = follow();

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (unsigned i = 0; i < rounds; i++) {
        seep_python_follow(stacks);
        n += stacks->n;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    (void)n;
    return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
           rounds;
}

static void *run(void *function)
{
    ((void (*)(void))(uintptr_t)function)();
    return (void *)(uintptr_t)follow();
}

EXPORT int probe_call(void (*function)(void))
{
    pthread_t thread;
    void *n = NULL;

    if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)function) != 0)
        return -1;
    pthread_join(thread, &n);
    return (int)(uintptr_t)n;
}

EXPORT unsigned long probe_events(void)
{
    return n_described ? n_events : 0;
}

/* ---- preloaded ------------------------------------------------------------------------------ */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static void look(void)
{
    struct seep_pycode_info info;

    if (inside++ == 0 && seep_python_ready) {
        const unsigned n = follow();
        const struct seep_pyframe *frames = seep_pystack_frames(stacks);
        if (n && __atomic_fetch_add(&n_events, 1, __ATOMIC_RELAXED) % 64 == 0)
            for (unsigned i = 0; i < n; i++) {
                if (seep_python_describe(frames[i].code, &info) != 0 || !info.file_len ||
                    !info.function_len)
                    abort();
                n_described++;
                checksum += (unsigned char)info.file[info.file_len - 1] + line_of(&frames[i]) +
                            (seep_python_first_local(i) & 1);
            }
    }
    inside--;
}

EXPORT void *malloc(size_t size)
{
    look();
    return __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
    look();
    return __libc_calloc(n, size);
}

EXPORT void *realloc(void *old, size_t size)
{
    look();
    return __libc_realloc(old, size);
}

EXPORT void free(void *block)
{
    look();
    __libc_free(block);
}
