/* The malloc family, one section per run; prints what it did (tally.h).
 *   usage: counts_heap SECTION [N] */
#include "tally.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>

struct block {
    void *p;
    size_t size;
    struct tally *tally;
};

enum { BLOCKS = 8192 };
static struct block blocks[BLOCKS];

static void keep(int slot, void *p, size_t size, struct tally *t, int line)
{
    MUST(p != NULL);
    tally_made(t, size, line);
    blocks[slot] = (struct block){p, size, t};
}

static NOIPA void release(int slot)
{
    struct block *b = &blocks[slot];
    if (b->p == NULL)
        return;
    tally_gone(b->tally, b->size);
    free(b->p);
    b->p = NULL;
}

TALLY(subject_malloc, "host");
static NOIPA void subject_malloc(int slot, size_t size)
{
    const int line = __LINE__ + 1;
    void *p = malloc(size);
    keep(slot, p, size, &tally_subject_malloc, line);
}

TALLY(subject_calloc, "host");
static NOIPA void subject_calloc(int slot, size_t n, size_t size)
{
    const int line = __LINE__ + 1;
    void *p = calloc(n, size);
    keep(slot, p, n * size, &tally_subject_calloc, line);
    for (size_t i = 0; i < n * size; i++)
        MUST(((char *)p)[i] == 0);
}

/* Success is a free of the old block and an allocation of the new one. */
TALLY(subject_realloc, "host");
static NOIPA void subject_realloc(int slot, size_t size)
{
    struct block old = blocks[slot];
    const int line = __LINE__ + 1;
    void *p = realloc(old.p, size);
    if (old.p != NULL)
        tally_gone(old.tally, old.size);
    keep(slot, p, size, &tally_subject_realloc, line);
}

TALLY(subject_reallocarray, "host");
static NOIPA void subject_reallocarray(int slot, size_t n, size_t size)
{
    struct block old = blocks[slot];
    const int line = __LINE__ + 1;
    void *p = reallocarray(old.p, n, size);
    if (old.p != NULL)
        tally_gone(old.tally, old.size);
    keep(slot, p, n * size, &tally_subject_reallocarray, line);
}

TALLY(subject_posix_memalign, "host");
static NOIPA void subject_posix_memalign(int slot, size_t alignment, size_t size)
{
    void *p = NULL;
    const int line = __LINE__ + 1;
    int rc = posix_memalign(&p, alignment, size);
    MUST(rc == 0 && (uintptr_t)p % alignment == 0);
    keep(slot, p, size, &tally_subject_posix_memalign, line);
}

TALLY(subject_aligned_alloc, "host");
static NOIPA void subject_aligned_alloc(int slot, size_t alignment, size_t size)
{
    const int line = __LINE__ + 1;
    void *p = aligned_alloc(alignment, size);
    MUST((uintptr_t)p % alignment == 0);
    keep(slot, p, size, &tally_subject_aligned_alloc, line);
}

TALLY(subject_memalign, "host");
static NOIPA void subject_memalign(int slot, size_t alignment, size_t size)
{
    const int line = __LINE__ + 1;
    void *p = memalign(alignment, size);
    MUST((uintptr_t)p % alignment == 0);
    keep(slot, p, size, &tally_subject_memalign, line);
}

TALLY(subject_valloc, "host");
static NOIPA void subject_valloc(int slot, size_t size)
{
    const int line = __LINE__ + 1;
    void *p = valloc(size);
    keep(slot, p, size, &tally_subject_valloc, line);
}

TALLY(subject_pvalloc, "host");
static NOIPA void subject_pvalloc(int slot, size_t size)
{
    const int line = __LINE__ + 1;
    void *p = pvalloc(size);
    keep(slot, p, size, &tally_subject_pvalloc, line);
}

TALLY(subject_strdup, "host");
static NOIPA void subject_strdup(int slot, const char *text)
{
    const int line = __LINE__ + 1;
    char *p = strdup(text);
    keep(slot, p, strlen(text) + 1, &tally_subject_strdup, line);
}

TALLY(subject_strndup, "host");
static NOIPA void subject_strndup(int slot, const char *text, size_t n)
{
    const int line = __LINE__ + 1;
    char *p = strndup(text, n);
    keep(slot, p, strnlen(text, n) + 1, &tally_subject_strndup, line);
}

/* glibc keeps exactly the text; how it gets there is its own affair, so only live bytes are
 * compared. */
TALLY(subject_asprintf, "host");
static NOIPA void subject_asprintf(int slot, int width)
{
    char *p = NULL;
    const int line = __LINE__ + 1;
    int n = asprintf(&p, "%*d", width, 7);
    MUST(n == width);
    keep(slot, p, (size_t)n + 1, &tally_subject_asprintf, line);
}

TALLY(subject_getline, "host");
static NOIPA void subject_getline(int slot, FILE *f)
{
    char *p = NULL;
    size_t capacity = 0;
    const int line = __LINE__ + 1;
    ssize_t n = getline(&p, &capacity, f);
    MUST(n > 0);
    keep(slot, p, capacity, &tally_subject_getline, line);
}

static void *(*operator_new)(size_t);
static void *(*operator_new_array)(size_t);
static void (*operator_delete)(void *);

TALLY(subject_new, "host");
static NOIPA void subject_new(int slot, size_t size)
{
    const int line = __LINE__ + 1;
    void *p = (slot % 2 ? operator_new : operator_new_array)(size);
    keep(slot, p, size, &tally_subject_new, line);
}

static void section_malloc(void)
{
    for (int i = 0; i < 3000; i++)
        subject_malloc(i, (size_t)(1 + i * 37 % 5000));
    for (int i = 0; i < 40; i++) /* above the threshold from which malloc itself maps */
        subject_malloc(3000 + i, (size_t)100000 * (size_t)(i + 1));
    for (int i = 0; i < 3040; i += 3)
        release(i);
}

static void section_calloc(void)
{
    for (int i = 0; i < 500; i++)
        subject_calloc(i, (size_t)(1 + i % 13), (size_t)(1 + i * 7 % 400));
    subject_calloc(500, 1000, 1001);
    volatile size_t huge = SIZE_MAX / 2;
    MUST(calloc(huge, 4) == NULL);
    for (int i = 0; i < 500; i += 2)
        release(i);
}

static void section_realloc(void)
{
    for (int i = 0; i < 400; i++)
        subject_realloc(i, (size_t)(1 + i)); /* from NULL */
    for (int i = 0; i < 400; i++)
        subject_realloc(i, (size_t)(1 + i) * 50); /* grows and moves */
    for (int i = 0; i < 400; i++)
        subject_realloc(i, (size_t)(1 + i) * 50 + 1); /* grows, mostly in place */
    for (int i = 0; i < 400; i++)
        subject_realloc(i, (size_t)(1 + i)); /* shrinks */
    for (int i = 0; i < 20; i++)
        subject_realloc(400 + i, 300000); /* mapped by malloc itself */
    for (int i = 0; i < 20; i++)
        subject_realloc(400 + i, 900000 + (size_t)i);
    volatile size_t huge = PTRDIFF_MAX;
    for (int i = 0; i < 10; i++) { /* fails: the block stays */
        errno = 0;
        MUST(realloc(blocks[i].p, huge) == NULL && errno == ENOMEM);
    }
    for (int i = 0; i < 50; i++) { /* glibc: to size 0 frees */
        volatile size_t none = 0;
        tally_gone(blocks[i].tally, blocks[i].size);
        MUST(realloc(blocks[i].p, none) == NULL);
        blocks[i].p = NULL;
    }
    for (int i = 0; i < 100; i++)
        subject_malloc(1000 + i, 64);
    for (int i = 0; i < 50; i++) /* the block goes over to another site */
        subject_realloc(1000 + i, 128);
    for (int i = 50; i < 420; i += 2)
        release(i);
}

static void section_reallocarray(void)
{
    for (int i = 0; i < 200; i++)
        subject_reallocarray(i, (size_t)(i + 1), 24);
    for (int i = 0; i < 200; i++)
        subject_reallocarray(i, (size_t)(i + 1), 48);
    volatile size_t huge = SIZE_MAX / 2;
    errno = 0;
    MUST(reallocarray(blocks[7].p, huge, 4) == NULL && errno == ENOMEM);
    for (int i = 0; i < 200; i += 4)
        release(i);
}

/* C23's way to free, by a name that is looked for: libc may not have it. */
static void section_sized(void)
{
    void (*sized)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
    void (*aligned)(void *, size_t, size_t) =
        (void (*)(void *, size_t, size_t))dlsym(RTLD_DEFAULT, "free_aligned_sized");
    MUST(sized && aligned);
    for (int i = 0; i < 20; i++) {
        subject_malloc(i, 100);
        subject_aligned_alloc(1000 + i, 64, 640);
    }
    for (int i = 0; i < 20; i += 2) {
        tally_gone(blocks[i].tally, blocks[i].size);
        sized(blocks[i].p, blocks[i].size);
        tally_gone(blocks[1000 + i].tally, blocks[1000 + i].size);
        aligned(blocks[1000 + i].p, 64, blocks[1000 + i].size);
    }
    errno = EDOM;
    sized(NULL, 0);
    aligned(NULL, 64, 0);
    MUST(errno == EDOM);
}

static void section_aligned(void)
{
    for (int i = 0; i < 300; i++) {
        size_t alignment = (size_t)16 << (i % 9);
        subject_posix_memalign(i, alignment, (size_t)(1 + i * 11));
        subject_aligned_alloc(1000 + i, alignment, alignment * (size_t)(1 + i % 5));
        subject_memalign(2000 + i, alignment, (size_t)(1 + i * 3));
    }
    for (int i = 0; i < 20; i++) {
        subject_valloc(3000 + i, (size_t)(1 + i * 1000));
        subject_pvalloc(4000 + i, (size_t)(1 + i * 1000));
    }
    void *untouched = &blocks;
    MUST(posix_memalign(&untouched, 3, 64) == EINVAL && untouched == &blocks);
    for (int i = 0; i < 300; i += 2) {
        release(i);
        release(1000 + i);
        release(2000 + i);
    }
    for (int i = 0; i < 20; i += 3) {
        release(3000 + i);
        release(4000 + i);
    }
}

static void section_libc(void)
{
    static char text[5000], buffer[4096];
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < 200; i++) {
        subject_strdup(i, text + sizeof text - 1 - i * 10);
        subject_strndup(1000 + i, text, (size_t)(i * 5));
        subject_asprintf(2000 + i, 1 + i * 3);
    }
    FILE *f = tmpfile();
    MUST(f != NULL);
    setvbuf(f, buffer, _IOFBF, sizeof buffer);
    for (int i = 0; i < 100; i++)
        fprintf(f, "%.*s\n", 1 + i * 20, text);
    rewind(f);
    for (int i = 0; i < 100; i++)
        subject_getline(3000 + i, f);
    fclose(f);
    for (int i = 0; i < 4000; i += 3)
        release(i);
}

static void section_new(void)
{
    void *lib = dlopen("libstdc++.so.6", RTLD_NOW);
    MUST(lib != NULL);
    *(void **)&operator_new = dlsym(lib, "_Znwm");
    *(void **)&operator_new_array = dlsym(lib, "_Znam");
    *(void **)&operator_delete = dlsym(lib, "_ZdlPv");
    MUST(operator_new && operator_new_array && operator_delete);
    for (int i = 0; i < 500; i++)
        subject_new(i, (size_t)(1 + i * 3));
    for (int i = 0; i < 500; i += 3) {
        tally_gone(blocks[i].tally, blocks[i].size);
        operator_delete(blocks[i].p);
    }
}

static void section_zero(void)
{
    for (int i = 0; i < 50; i++) {
        subject_malloc(i, 0);
        subject_calloc(100 + i, 0, 8);
        subject_realloc(200 + i, 0); /* from NULL: malloc(0) */
    }
    for (int i = 0; i < 300; i += 2)
        release(i);
}

static void section_failure(void)
{
    volatile size_t huge = PTRDIFF_MAX;
    for (int i = 0; i < 100; i++) {
        void *p = NULL;
        errno = 0;
        MUST(malloc(huge) == NULL && errno == ENOMEM);
        errno = 0;
        MUST(calloc(huge, 1) == NULL && errno == ENOMEM);
        MUST(posix_memalign(&p, 64, huge) == ENOMEM && p == NULL);
        errno = 0;
        MUST(memalign(64, huge) == NULL && errno == ENOMEM);
        void *volatile none = NULL;
        free(none);
    }
    subject_malloc(0, 77);
}

static void section_peak(void)
{
    for (int i = 0; i < 10; i++)
        subject_malloc(i, 1 << 20);
    for (int i = 0; i < 10; i++)
        release(i);
    for (int i = 0; i < 3; i++)
        subject_malloc(i, 1 << 20);
}

static void section_storm(long n)
{
    uint64_t state = 88172645463325252ull;
    for (long i = 0; i < n; i++) {
        uint64_t r = tally_random(&state);
        int slot = (int)(r % 2048);
        if (r >> 60 == 0)
            release(slot);
        else
            subject_realloc(slot, 1 + (r >> 20) % 3000);
    }
}

static void section_events(long n)
{
    uint64_t state = 1234567;
    for (long i = 0; i < n; i++) {
        uint64_t r = tally_random(&state);
        int slot = (int)(r % 4096);
        release(slot);
        subject_malloc(slot, 1 + (r >> 20) % 2000);
    }
}

/* Only calls that every allocation profiler hooks, for comparing totals with another one. */
static void section_common(long n)
{
    uint64_t state = 42;
    for (long i = 0; i < n; i++) {
        uint64_t r = tally_random(&state);
        int slot = (int)(r % 4096);
        switch (r >> 13 & 3) {
        case 0:
            release(slot);
            subject_calloc(slot, 1 + (r >> 20) % 8, 1 + (r >> 30) % 100);
            break;
        case 1:
            subject_realloc(slot, 1 + (r >> 20) % 2000);
            break;
        case 2:
            release(slot);
            subject_posix_memalign(slot, 64, 1 + (r >> 20) % 2000);
            break;
        default:
            release(slot);
            subject_malloc(slot, 1 + (r >> 20) % 2000);
        }
    }
}

int main(int argc, char **argv)
{
    const char *section = argc > 1 ? argv[1] : "none";
    long n = argc > 2 ? atol(argv[2]) : 100000;
    static const struct {
        const char *name;
        void (*run)(void);
    } plain[] = {{"malloc", section_malloc},   {"calloc", section_calloc},
                 {"realloc", section_realloc}, {"reallocarray", section_reallocarray},
                 {"aligned", section_aligned}, {"sized", section_sized},
                 {"libc", section_libc},       {"new", section_new},
                 {"zero", section_zero},       {"failure", section_failure},
                 {"peak", section_peak}};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(section, plain[i].name) == 0)
            plain[i].run();
    if (strcmp(section, "storm") == 0)
        section_storm(n);
    if (strcmp(section, "events") == 0)
        section_events(n);
    if (strcmp(section, "common") == 0)
        section_common(n);
    tally_print();
    return 0;
}
