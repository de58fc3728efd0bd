#include "preload/device/hidden.h"

#include "libprof/contract.h"
#include "preload/record/map_set.h"
#include "preload/record/record.h"

static bool any; /* in this process, or before it was forked */

/* The live set has the block itself, where everybody looks for it. A mark above all addresses, on
 * no keyspace of the books, says that it was reported. So blocks that hooks have seen are left to
 * the hooks. */
static uintptr_t mark_of(const void *block)
{
    return (uintptr_t)block | UINT64_C(1) << 63;
}

static bool is_seen(void *block)
{
    struct seep_block held;
    if (block == seep_tls.thread->passed_over)
        return true;
    seep_record_hold(block, &held);
    if (held.site)
        seep_record_put_back(block, &held);
    return held.site != 0;
}

void seep_hidden_gone(void *block)
{
    SEEP_CHECK(seep_is_inside());
    struct seep_block mark;
    if (any && seep_live_take(mark_of(block), &mark))
        seep_record_free(block);
}

void seep_hidden_made(void *block, uint64_t bytes, const struct seep_regs *regs)
{
    SEEP_CHECK(seep_is_inside());
    const struct seep_block mark = {.site = 1, .bytes = bytes};
    seep_hidden_gone(block); /* its free was missed */
    if (is_seen(block) || !seep_map_handed_out((uintptr_t)block))
        return;
    __atomic_store_n(&any, true, __ATOMIC_RELAXED);
    if (seep_live_put(mark_of(block), &mark))
        seep_record_allocation(block, bytes, regs);
    else
        seep_arena_drop(SEEP_DROP_MEMORY);
    seep_tls.thread->passed_over = NULL; /* not by a hook */
}
