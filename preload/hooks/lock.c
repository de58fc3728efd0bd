/* mlockall() under a limit. The kernel compares the whole address space with RLIMIT_MEMLOCK,
 * including seep's mappings; if the job's alone would fit, they are locked one by one. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/hooks/signals.h"
#include "preload/objects/real.h"
#include "preload/pages/smaps.h"
#include "preload/record/tick.h"

extern const char __ehdr_start[], _end[]; /* of this library */

struct locking {
    uint64_t job_bytes;
    bool lock; /* else the bytes are only counted */
    int flags; /* of mlock2() */
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

static void take_first(struct seep_own_range *first, uintptr_t start, uintptr_t end, uintptr_t at)
{
    start = start > at ? start : at;
    if (start < end && start < first->start)
        *first = (struct seep_own_range){start, end};
}

/* Finds the first piece of [at, end) that is seep's; an empty one at `end` if there is none. */
static struct seep_own_range first_own(uintptr_t at, uintptr_t end)
{
    struct seep_own_range first = {end, end}, piece;
    for (uint32_t i = 0; seep_own_next(&i, at, end, &piece);)
        take_first(&first, piece.start, piece.end, at);
    take_first(&first, (uintptr_t)seep_arena_base,
               seep_os_page_up((uintptr_t)seep_arena_base + seep_arena.reserved_bytes), at);
    take_first(&first, (uintptr_t)__ehdr_start, seep_os_page_up((uintptr_t)_end), at);
    if (first.end > end)
        first.end = end;
    return first;
}

/* Skips what cannot be locked, as mlockall() does. */
static void each_map(const struct seep_vma *vma, void *argument)
{
    struct locking *locking = argument;
    if (ends_with(vma->name, SEEP_PROFILE_SUFFIX) || ends_with(vma->name, SEEP_JOB_FILE) ||
        strcmp(vma->name, "[vsyscall]") == 0)
        return;
    for (uintptr_t at = vma->start; at < vma->end;) {
        struct seep_own_range own = first_own(at, vma->end);
        locking->job_bytes += own.start - at;
        if (locking->lock && own.start > at)
            (void)seep_os_call3(SYS_mlock2, (long)at, (long)(own.start - at), locking->flags);
        at = own.end;
    }
}

static bool lock_the_jobs(int flags)
{
    struct locking locking = {.flags = flags & MCL_ONFAULT ? MLOCK_ONFAULT : 0};
    struct rlimit64 limit = {0};
    if (seep_os_call6(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)&limit, 0, 0) < 0 ||
        !seep_os_lock(seep_tick_lock()))
        return false;
    bool fits = seep_smaps_read(each_map, &locking) && locking.job_bytes <= limit.rlim_cur;
    locking.lock = true;
    fits = fits && seep_smaps_read(each_map, &locking);
    seep_os_unlock(seep_tick_lock());
    return fits && (!(flags & MCL_FUTURE) ||
                    seep_arch_call6(SYS_mlockall, flags & ~MCL_CURRENT, 0, 0, 0, 0, 0) == 0);
}

SEEP_EXPORT int mlockall(int flags)
{
    uint64_t mask;
    int saved_errno = errno;
    int result = (int)(seep_real.mlockall ? seep_real.mlockall(flags)
                                          : seep_arch_call6(SYS_mlockall, flags, 0, 0, 0, 0, 0));
    if (result < -1) {
        errno = -result;
        result = -1;
    }
    if (result == 0 || errno != ENOMEM || !(flags & MCL_CURRENT) || !seep_enter_call(&mask))
        return result;
    seep_note_hook(SEEP_HOOK_mlockall);
    if (lock_the_jobs(flags))
        result = 0;
    errno = result == 0 ? saved_errno : ENOMEM;
    seep_leave_call(&mask);
    return result;
}
