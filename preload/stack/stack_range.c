#include "preload/stack/stack_range.h"

#include <pthread.h>
#include <signal.h>

#include "libprof/format/page_format.h"
#include "libprof/runtime/store/os.h"

extern void *__libc_stack_end; /* from the loader: the main thread's stack begins here */

enum {
    LEAST = SEEP_LEAST_PAGE_BYTES,
    LARGEST_OWN = 64 << 20,
    FIRST_CAPACITY = 1024,
    MOST_UP = 256,   /* deeper stacks are cut: 1 MiB */
    ROOM = 8 * 1024, /* what recording may need, including the analysis of a new stack */
};

/* One word for each page of a stack, of the least size that pages have on any machine: its number
 * << 9 | readable ones from it upwards; 0: forgotten. Larger pages are several, all of them
 * readable or none: so no event need ask how large they are. */
enum { START_SHIFT = 9, COUNT_MASK = 511 };

static struct table {
    uint64_t mask; /* capacity − 1 */
    uint64_t words[];
} * table; /* replaced by a larger one; old tables stay for threads that still read them */
static uint64_t n_words;
static uintptr_t lowest = UINTPTR_MAX, highest; /* of all pages ever entered */
static struct seep_lock lock;                   /* for writers */

static uint64_t hash_of(uintptr_t page)
{
    return (page * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
}

/* 0: unknown. */
static uint64_t word_of(uintptr_t page)
{
    const struct table *t = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    if (!t)
        return 0;
    for (uint64_t at = hash_of(page);; at++) {
        uint64_t word = __atomic_load_n(&t->words[at & t->mask], __ATOMIC_RELAXED);
        if (!word)
            return 0;
        if (word >> START_SHIFT == page)
            return word & COUNT_MASK ? word : 0;
    }
}

static void enter(struct table *t, uint64_t word)
{
    uint64_t at = hash_of(word >> START_SHIFT);
    while (t->words[at & t->mask] && t->words[at & t->mask] >> START_SHIFT != word >> START_SHIFT)
        at++;
    n_words += !t->words[at & t->mask];
    __atomic_store_n(&t->words[at & t->mask], word, __ATOMIC_RELAXED);
}

static bool grow(void)
{
    struct table *old = table;
    uint64_t capacity = FIRST_CAPACITY, in_use = 0;
    for (uint64_t i = 0; old && i <= old->mask; i++)
        in_use += (old->words[i] & COUNT_MASK) != 0;
    while (capacity < in_use * 4)
        capacity *= 2;
    struct table *fresh = seep_os_pages(sizeof(*fresh) + capacity * sizeof(fresh->words[0]));
    if (!fresh)
        return false;
    fresh->mask = capacity - 1;
    n_words = 0;
    for (uint64_t i = 0; old && i <= old->mask; i++)
        if (old->words[i] & COUNT_MASK)
            enter(fresh, old->words[i]);
    __atomic_store_n(&table, fresh, __ATOMIC_RELEASE);
    return true;
}

static void remember(uint64_t word)
{
    uintptr_t page = word >> START_SHIFT, end = page + (word & COUNT_MASK);
    if (page < lowest)
        __atomic_store_n(&lowest, page, __ATOMIC_RELEASE);
    if (end > highest)
        __atomic_store_n(&highest, end, __ATOMIC_RELEASE);
    if ((table && (n_words + 1) * 2 < table->mask) || grow())
        enter(table, word);
}

/* The kernel reads the mask before it notices that it has nothing to do with it. */
static bool readable(uintptr_t page)
{
    return seep_os_call6(SYS_rt_sigprocmask, -1, (long)page, 0, 8, 0, 0) == -EINVAL;
}

/* Checks that all pages between the stack's top and `sp` can be read: then no guard page lies
 * between, so it is one stack. */
static bool extend_own(struct seep_stack_range *own, uintptr_t sp)
{
    uintptr_t page = sp & ~(uintptr_t)(LEAST - 1);
    if (!own->high) { /* glibc keeps what pthread_self() points to at the top of a thread's stack */
        own->high = seep_os_tid() == seep_os_pid() ? (uintptr_t)__libc_stack_end : pthread_self();
        own->low = own->high & ~(uintptr_t)(LEAST - 1);
    }
    if (sp >= own->high || own->high - sp > LARGEST_OWN)
        return false;
    for (uintptr_t at = page; at < own->low; at += LEAST)
        if (!readable(at))
            return false;
    if (page < own->low)
        own->low = page;
    return true;
}

/* Looks up a page that was not seen before. */
static uint64_t measure(uintptr_t page)
{
    uintptr_t up = 0;
    while (up < MOST_UP && readable((page + up) * LEAST))
        up += 1 + (word_of(page + up + 1) & COUNT_MASK);
    return (uint64_t)page << START_SHIFT | (up < MOST_UP ? up : MOST_UP);
}

static uint64_t find_other(uintptr_t sp)
{
    uint64_t word = word_of(sp / LEAST);
    if (word || !seep_os_lock(&lock))
        return word;
    word = measure(sp / LEAST);
    if (word & COUNT_MASK)
        remember(word);
    seep_os_unlock(&lock);
    return word;
}

static bool within(const struct seep_stack_range *range, uintptr_t from, uintptr_t to)
{
    return from >= range->low && to <= range->high;
}

static uintptr_t end_of(uint64_t word)
{
    return ((word >> START_SHIFT) + (word & COUNT_MASK)) * LEAST;
}

struct seep_stack_range seep_stack_range_find(struct seep_stacks *stacks, uintptr_t sp)
{
    if (within(&stacks->own, sp, sp + 1) || extend_own(&stacks->own, sp))
        return stacks->own;
    uint64_t word = find_other(sp);
    if (end_of(word) < sp + 16)
        return (struct seep_stack_range){sp, sp + 16};
    struct seep_stack_range found = {sp & ~(uintptr_t)(LEAST - 1), end_of(word)};
    /* Adjacent stacks may have become one mapping: the thread's own stack is not part of this
     * one. */
    if (stacks->own.high > sp && stacks->own.high < found.high)
        found.high = stacks->own.low;
    return found;
}

bool seep_stack_range_holds(const struct seep_stacks *stacks, uintptr_t from, uintptr_t to)
{
    return within(&stacks->own, from, to) || to <= end_of(word_of(from / LEAST));
}

bool seep_stack_range_met(uintptr_t sp)
{
    return word_of(sp / LEAST) != 0;
}

bool seep_stack_range_roomy(uintptr_t sp)
{
    stack_t signal_stack = {0};
    if (seep_os_call3(SYS_sigaltstack, 0, (long)&signal_stack, 0) != 0 ||
        !(signal_stack.ss_flags & SS_ONSTACK))
        return true;
    return sp - (uintptr_t)signal_stack.ss_sp >= ROOM;
}

void seep_stack_range_unmap(uintptr_t start, uintptr_t end)
{
    if (start / LEAST >= __atomic_load_n(&highest, __ATOMIC_ACQUIRE) ||
        end / LEAST < __atomic_load_n(&lowest, __ATOMIC_ACQUIRE) || !seep_os_lock(&lock))
        return;
    struct table *t = table;
    uintptr_t first = start / LEAST;
    uintptr_t n = (end + LEAST - 1) / LEAST - first;
    if (n <= MOST_UP) { /* pages below it extend into it */
        for (uintptr_t page = first > MOST_UP ? first - MOST_UP : 0; page < first + n; page++) {
            uint64_t word = word_of(page);
            if (word && page + (word & COUNT_MASK) > first)
                enter(t, (uint64_t)page << START_SHIFT);
        }
    } else {
        for (uint64_t i = 0; i <= t->mask; i++) {
            uintptr_t page = t->words[i] >> START_SHIFT;
            if (page < first + n && end_of(t->words[i]) > start)
                __atomic_store_n(&t->words[i], (uint64_t)page << START_SHIFT, __ATOMIC_RELAXED);
        }
    }
    seep_os_unlock(&lock);
}

void seep_stack_range_after_fork(void)
{
    lock.word = 0;
}

struct seep_lock *seep_stack_range_lock(void)
{
    return &lock;
}
