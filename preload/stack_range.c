#include "preload/stack_range.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "libprof/os.h"

extern void *__libc_stack_end; /* of the loader: the main thread's stack begins here */

enum { PAGE = 4096, LARGEST_OWN = 64 << 20, N_NOTED = 128 };

/* The other stacks that any thread may have in its `others`: those of the generation are here. */
static struct seep_stack_range noted[N_NOTED];
static uint32_t n_noted, next_noted;
static uint32_t generation;
static struct seep_lock lock;

static bool within(const struct seep_stack_range *range, uintptr_t from, uintptr_t to)
{
    return from >= range->low && to <= range->high;
}

/* The kernel reads the mask before it finds that there is nothing to be done with it. */
static bool readable(uintptr_t from, uintptr_t to)
{
    for (uintptr_t page = from; page < to; page += PAGE)
        if (seep_os_call6(SYS_rt_sigprocmask, -1, (long)page, 0, 8, 0, 0) == -EFAULT)
            return false;
    return true;
}

/* All pages between the stack's top and `sp` can be read: no guard page lies between, so it is one
 * stack. */
static bool extend_own(struct seep_stack_range *own, uintptr_t sp)
{
    uintptr_t page = sp & ~(uintptr_t)(PAGE - 1);
    if (!own->high) { /* glibc keeps what pthread_self() points to at the top of a thread's stack */
        own->high = seep_os_tid() == seep_os_pid() ? (uintptr_t)__libc_stack_end : pthread_self();
        own->low = own->high & ~(uintptr_t)(PAGE - 1);
    }
    if (sp >= own->high || own->high - sp > LARGEST_OWN || !readable(page, own->low))
        return false;
    if (page < own->low)
        own->low = page;
    return true;
}

static uintptr_t parse_hex(const char **at)
{
    uintptr_t value = 0;
    for (;; ++*at) {
        char c = **at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return value;
    }
}

static bool find_in_maps(uintptr_t sp, struct seep_stack_range *found)
{
    char text[4096 + 1];
    size_t kept = 0;
    int fd = seep_os_open("/proc/self/maps", O_RDONLY, 0);
    if (fd < 0)
        return false;
    for (;;) {
        long n = seep_os_read(fd, text + kept, 4096 - kept);
        if (n <= 0)
            break;
        text[kept + (size_t)n] = '\0';
        char *line = text;
        for (char *newline; (newline = strchr(line, '\n')); line = newline + 1) {
            const char *at = line;
            found->low = parse_hex(&at);
            found->high = *at == '-' ? (++at, parse_hex(&at)) : 0;
            if (within(found, sp, sp + 1)) {
                seep_os_close(fd);
                return true;
            }
        }
        kept = (size_t)(text + kept + (size_t)n - line);
        if (kept >= 4096)
            kept = 0;
        memmove(text, line, kept);
    }
    seep_os_close(fd);
    return false;
}

static bool find_noted(uintptr_t sp, struct seep_stack_range *found)
{
    for (uint32_t i = 0; i < n_noted; i++) {
        if (within(&noted[i], sp, sp + 1)) {
            *found = noted[i];
            return true;
        }
    }
    return false;
}

static void note(const struct seep_stack_range *range)
{
    if (n_noted < N_NOTED) {
        noted[n_noted] = *range;
        __atomic_store_n(&n_noted, n_noted + 1, __ATOMIC_RELEASE);
        return;
    }
    noted[next_noted++ % N_NOTED] = *range;
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE); /* a thread may have what was here */
}

static bool find_other(uintptr_t sp, struct seep_stack_range *found)
{
    if (!seep_os_lock(&lock))
        return false;
    bool ok = find_noted(sp, found);
    if (!ok && (ok = find_in_maps(sp, found)))
        note(found);
    seep_os_unlock(&lock);
    return ok;
}

struct seep_stack_range seep_stack_range_find(struct seep_stacks *stacks, uintptr_t sp)
{
    struct seep_stack_range found;
    if (within(&stacks->own, sp, sp + 1))
        return stacks->own;
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (stacks->generation != now) {
        memset(stacks->others, 0, sizeof(stacks->others));
        stacks->generation = now;
    }
    for (unsigned i = 0; i < SEEP_OTHER_STACKS; i++)
        if (within(&stacks->others[i], sp, sp + 1))
            return stacks->others[i];
    if (extend_own(&stacks->own, sp))
        return stacks->own;
    if (!find_other(sp, &found))
        return (struct seep_stack_range){sp, sp + 16};
    /* Neighbours may have become one mapping: the thread's own stack is none of it. */
    if (stacks->own.high > sp && stacks->own.high < found.high)
        found.high = stacks->own.low;
    stacks->others[stacks->next++ % SEEP_OTHER_STACKS] = found;
    return found;
}

bool seep_stack_range_holds(const struct seep_stacks *stacks, uintptr_t from, uintptr_t to)
{
    if (within(&stacks->own, from, to))
        return true;
    if (stacks->generation != __atomic_load_n(&generation, __ATOMIC_ACQUIRE))
        return false;
    for (unsigned i = 0; i < SEEP_OTHER_STACKS; i++)
        if (within(&stacks->others[i], from, to))
            return true;
    return false;
}

void seep_stack_range_unmap(uintptr_t start, uintptr_t end)
{
    if (!__atomic_load_n(&n_noted, __ATOMIC_ACQUIRE) || !seep_os_lock(&lock))
        return;
    bool any = false;
    for (uint32_t i = 0; i < n_noted;) {
        if (start < noted[i].high && end > noted[i].low) {
            noted[i] = noted[--n_noted];
            any = true;
        } else {
            i++;
        }
    }
    if (any)
        __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
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
