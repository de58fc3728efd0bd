/* What libc10 and its allocator look like to code that intercepts them: a function that is told of
 * each block, exported and called through the dynamic symbol, and an allocator that keeps totals.
 * Built with SIGNATURE 9, 13 or 20: as in PyTorch up to 1.9, up to 1.13, and from 2.0 on. */
#include <pthread.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

struct device {
    int8_t type, number;
};

/* What the profiler has been told: others may stand in front of it, and pass on. */
EXPORT uint64_t c10_told, c10_told_failed;
EXPORT int64_t c10_told_bytes;

#if SIGNATURE == 9
#define REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE"
#define TOTALS
#define GIVEN
#elif SIGNATURE == 13
#define REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE"
#define FAILED "_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE"
#define TOTALS int64_t allocated, int64_t reserved,
#define GIVEN  (int64_t) allocated[d.number], (int64_t)reserved[d.number],
#else
#define REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
#define FAILED "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE"
#define TOTALS uint64_t allocated, uint64_t reserved,
#define GIVEN  allocated[d.number], reserved[d.number],
#endif

EXPORT void report(void *block, int64_t bytes, TOTALS struct device d) __asm__(REPORT);
void report(void *block, int64_t bytes, TOTALS struct device d)
{
    (void)block, (void)d;
    __atomic_fetch_add(&c10_told, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&c10_told_bytes, bytes, __ATOMIC_RELAXED);
}

#ifdef FAILED
EXPORT void failed(int64_t bytes, TOTALS struct device d) __asm__(FAILED);
void failed(int64_t bytes, TOTALS struct device d)
{
    (void)bytes, (void)d;
    __atomic_fetch_add(&c10_told_failed, 1, __ATOMIC_RELAXED);
}
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t allocated[4], reserved[4];

/* Of device `number`; of type 1 they are CUDA's, of type 0 the CPU's. */
EXPORT void c10_made(int type, int number, void *block, int64_t bytes)
{
    struct device d = {(int8_t)type, (int8_t)number};
    pthread_mutex_lock(&lock);
    allocated[number] += type == 1 ? (uint64_t)bytes : 0;
    if (allocated[number] > reserved[number])
        reserved[number] = allocated[number];
    report(block, bytes, GIVEN d);
    pthread_mutex_unlock(&lock);
}

EXPORT void c10_gone(int type, int number, void *block, int64_t bytes)
{
    struct device d = {(int8_t)type, (int8_t)number};
    pthread_mutex_lock(&lock);
    allocated[number] -= type == 1 ? (uint64_t)bytes : 0;
    report(block, -bytes, GIVEN d);
    pthread_mutex_unlock(&lock);
}

/* A block that nobody is told of. */
EXPORT void c10_unseen(int number, int64_t bytes)
{
    allocated[number] += (uint64_t)bytes;
}

EXPORT void c10_failed(int number, int64_t bytes)
{
#ifdef FAILED
    struct device d = {1, (int8_t)number};
    pthread_mutex_lock(&lock);
    failed(bytes, GIVEN d);
    pthread_mutex_unlock(&lock);
#else
    (void)number, (void)bytes;
#endif
}
