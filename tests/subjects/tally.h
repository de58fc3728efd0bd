/* What a subject counts about itself, to compare with a report.
 *
 * A subject makes its blocks in functions of its own, each marked NOIPA so that it keeps its name
 * and its frame; TALLY(name, space) gives the function its counters. tally_print() writes them as
 * one line of JSON with write(2). Nothing here allocates. Threads: any. */
#ifndef SEEP_TESTS_TALLY_H
#define SEEP_TESTS_TALLY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOIPA __attribute__((noipa))
#define PAGE  ((size_t)getpagesize())

struct tally {
    const char *function, *space;
    int line; /* of the allocating call */
    int listed;
    uint64_t allocations, frees, allocated_bytes, live_bytes;
};

#define TALLY(name, space) static struct tally tally_##name = {#name, space, 0, 0, 0, 0, 0, 0}

enum { TALLY_MAX = 64 };
static struct tally *tally_list[TALLY_MAX];
static int tally_n;

static inline void tally_made(struct tally *t, uint64_t bytes, int line)
{
    if (!__atomic_exchange_n(&t->listed, 1, __ATOMIC_RELAXED))
        tally_list[__atomic_fetch_add(&tally_n, 1, __ATOMIC_RELAXED)] = t;
    t->line = line;
    __atomic_fetch_add(&t->allocations, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&t->allocated_bytes, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&t->live_bytes, bytes, __ATOMIC_RELAXED);
}

static inline void tally_gone(struct tally *t, uint64_t bytes)
{
    __atomic_fetch_add(&t->frees, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&t->live_bytes, bytes, __ATOMIC_RELAXED);
}

/* Bytes that left a range which still lives. */
static inline void tally_shrunk(struct tally *t, uint64_t bytes)
{
    __atomic_fetch_sub(&t->live_bytes, bytes, __ATOMIC_RELAXED);
}

static inline void tally_write(const char *text, size_t n)
{
    while (n > 0) {
        ssize_t written = write(1, text, n);
        if (written <= 0)
            _exit(99);
        text += written;
        n -= (size_t)written;
    }
}

static inline void tally_print(void)
{
    static char text[TALLY_MAX * 256];
    int n = snprintf(text, sizeof text, "{");
    for (int i = 0; i < tally_n; i++) {
        const struct tally *t = tally_list[i];
        n += snprintf(
            text + n, sizeof text - (size_t)n,
            "%s\"%s\": {\"space\": \"%s\", \"line\": %d, \"allocations\": %llu, \"frees\": %llu, "
            "\"allocated_bytes\": %llu, \"live_bytes\": %llu}",
            i > 0 ? ", " : "", t->function, t->space, t->line, (unsigned long long)t->allocations,
            (unsigned long long)t->frees, (unsigned long long)t->allocated_bytes,
            (unsigned long long)t->live_bytes);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "}\n");
    tally_write(text, (size_t)n);
}

/* Ends the program when the condition does not hold: the test sees status 98 and the line. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            char must_text[64];                                                                    \
            int must_n =                                                                           \
                snprintf(must_text, sizeof must_text, "line %d does not hold\n", __LINE__);        \
            if (write(2, must_text, (size_t)must_n) < 0)                                           \
                _exit(97);                                                                         \
            _exit(98);                                                                             \
        }                                                                                          \
    } while (0)

static inline uint64_t tally_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

#endif
