/* Stacks of threads that share a map with others, as all do from glibc 2.42 on: here for they were
 * given one. */
#include "libprof/who/process/remote.h"
#include "tests/suite.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK = 256 << 10, N = 3, ALL = (N + 2) * STACK };

static uint8_t *memory;
static pthread_t threads[N];
static pthread_barrier_t begun, end;
static struct seep_remote_process remote;
static struct seep_maps maps;

static void *wait_for_end(void *unused)
{
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&end);
    return unused;
}

static void set_up(void)
{
    pthread_attr_t attr;

    memory = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    pthread_barrier_init(&begun, NULL, N + 1);
    pthread_barrier_init(&end, NULL, N + 1);
    pthread_attr_init(&attr);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(pthread_attr_setstack(&attr, memory + (i + 1) * STACK, STACK), 0);
        ck_assert_int_eq(pthread_create(&threads[i], &attr, wait_for_end, NULL), 0);
    }
    pthread_attr_destroy(&attr);
    pthread_barrier_wait(&begun);
    ck_assert_int_eq(seep_remote_process_init(&remote, getpid()), 0);
}

static void tear_down(void)
{
    pthread_barrier_wait(&end);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    seep_maps_fini(&maps);
    seep_remote_process_fini(&remote);
    munmap(memory, ALL);
}

TEST(each_threads_stack_is_a_map_of_its_own)
{
    ck_assert_int_eq(remote.remote.read_maps(&remote.remote, &maps), 0);
    for (int i = 0; i < N; i++) {
        const uint64_t start = (uint64_t)memory + (uint64_t)(i + 1) * STACK;
        const struct seep_map *map = seep_maps_at(&maps, start + STACK / 2);
        ck_assert_ptr_nonnull(map);
        ck_assert_uint_eq(map->start, start);
        ck_assert_uint_eq(map->end, start + STACK);
        ck_assert(map->alone && map->guarded);
    }
    const struct seep_map *below = seep_maps_at(&maps, (uint64_t)memory);
    ck_assert(!below->alone);
    ck_assert_uint_eq(below->end, (uint64_t)memory + STACK);
    const struct seep_map *above = seep_maps_at(&maps, (uint64_t)memory + ALL - 1);
    ck_assert(!above->alone && !above->guarded);
    ck_assert_uint_eq(above->start, (uint64_t)memory + (N + 1) * STACK);
}

TEST(stacks_are_not_joined_with_what_lies_beside_them)
{
    struct seep_map joined;

    ck_assert_int_eq(remote.remote.read_maps(&remote.remote, &maps), 0);
    const struct seep_map *stack = seep_maps_at(&maps, (uint64_t)memory + STACK);
    (void)seep_maps_join(&maps, (size_t)(stack - maps.list), &joined);
    ck_assert_uint_eq(joined.end, stack->end);
    (void)seep_maps_join(&maps, (size_t)(stack - 1 - maps.list), &joined);
    ck_assert_uint_eq(joined.end, stack->start);
}

TEST(the_first_threads_variables_are_found)
{
    ck_assert_uint_eq(seep_remote_thread_pointer(&remote.remote),
                      (uint64_t)__builtin_thread_pointer());
}

SUITE("places of threads", .setup = set_up, .teardown = tear_down)
