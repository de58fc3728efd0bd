#include "preload/snapshot/snapshot_way.h"

#include "libprof/runtime/program/memory_room.h"
#include "libprof/runtime/store/address_space.h"
#include "libprof/runtime/store/arena.h"
#include "libprof/runtime/store/os.h"
#include "preload/cost/sampling.h"
#include "preload/job/job_table.h"
#include "preload/life/run_settings.h"
#include "preload/objects/modules.h"
#include "preload/snapshot/snapshot_harm.h"

enum {
    /* Measured (tests/bench/results): a nanosecond reads 1 byte of small objects, or 20 of large
     * blocks, which are sampled; of a heap that is half of each, 2. */
    BYTES_PER_READ_NS = 2,
    READER_MS = 20,         /* until a reader comes: 2 to 90, half of them within 10 */
    IN_PLACE_MS = 250,      /* that a process waits to be read, … */
    LAST_MS = 1000,         /* … or as it ends, when nobody else waits for it, or if a reading was
                             * requested */
    MAX_SAMPLED = 64 << 10, /* smaller blocks lie in heaps, where a reader finds them */
    ROOM_FOR_COPY = 2, /* times the resident memory: pages written anew, and the reader's own */
    ROOM_IN_PLACE = 4, /* 1/n of the resident memory */
};

static uint32_t namespace_of_pids; /* of this process; 0: not asked yet */

/* Process numbers differ there: a signal would reach a stranger. An unknown namespace may be
 * another one. */
static bool is_in_other_namespace(void)
{
    const uint32_t reader =
        __atomic_load_n(&seep_job_map->snapshot.reader_namespace, __ATOMIC_ACQUIRE);
    if (!namespace_of_pids)
        namespace_of_pids = seep_snapshot_namespace();
    return !namespace_of_pids || reader != namespace_of_pids;
}

/* Why nothing may be read although it is due; −1: it may. */
static int obstacle(void)
{
    const uint32_t reader = __atomic_load_n(&seep_job_map->snapshot.reader, __ATOMIC_ACQUIRE);
    if (seep_os_sandboxed)
        return SEEP_REFUSED_SANDBOX;
    if (!reader)
        return SEEP_REFUSED_NO_READER;
    if (is_in_other_namespace())
        return SEEP_REFUSED_NAMESPACE;
    if (seep_os_call3(SYS_kill, reader, 0, 0) == -ESRCH)
        return SEEP_REFUSED_NO_READER;
    if (seep_sampling.has_begun && seep_sampling.exact_bytes > MAX_SAMPLED)
        return SEEP_REFUSED_SAMPLED;
    return -1;
}

/* Resident, and not a file's: what a fork may have to copy. */
static uint64_t anonymous_bytes(void)
{
    struct seep_address_space space;
    seep_address_space_read(&space);
    return space.resident_bytes > space.shared_bytes ? space.resident_bytes - space.shared_bytes
                                                     : 0;
}

/* CUDA's driver, if loaded, has pinned pages, and a fork copies them at once. */
struct seep_snapshot_way seep_snapshot_choose(const struct seep_snapshot_policy *policy,
                                              const struct seep_snapshot_moment *now,
                                              enum seep_snapshot_source source)
{
    struct seep_memory_room room;
    const uint64_t anonymous = anonymous_bytes();
    const bool wished = now->asked || policy->told.mode == SEEP_SNAPSHOT_LIST;
    struct seep_snapshot_way way = {.refusal = obstacle(),
                                    .most_ns = (wished ? LAST_MS : IN_PLACE_MS) * SEEP_MILLISECOND};
    if (way.refusal >= 0)
        return way;
    seep_memory_room_read("/proc", 0, &room);
    (void)seep_modules_refresh();
    const uint64_t read_ns = READER_MS * SEEP_MILLISECOND + anonymous / BYTES_PER_READ_NS;
    if (source == SEEP_SNAPSHOT_AT_END) {
        way.in_place = true;
        way.most_ns = LAST_MS * SEEP_MILLISECOND;
    } else {
        way.in_place = room.left_bytes / ROOM_FOR_COPY < anonymous ||
                       policy->stops.last_ns > read_ns || seep_modules_cuda ||
                       seep_snapshot_fork_harms(anonymous);
    }
    if (way.in_place && room.left_bytes < anonymous / ROOM_IN_PLACE)
        way.refusal = SEEP_REFUSED_MEMORY;
    else if (way.in_place && seep_snapshot_is_guarded())
        way.refusal = SEEP_REFUSED_GUARDED;
    else if (way.in_place && source == SEEP_SNAPSHOT_BY_STEP && !wished &&
             !seep_snapshot_policy_affords(policy, now, read_ns))
        way.refusal = SEEP_REFUSED_COST;
    return way;
}

void seep_snapshot_way_after_fork(void)
{
    namespace_of_pids = 0;
}
