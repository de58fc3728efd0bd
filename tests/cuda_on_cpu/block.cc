/* Fibres: each has a stack, and leaves it and comes back by __builtin_setjmp and __builtin_longjmp,
 * some ten instructions, where swapcontext asks the kernel for the signal mask each time. */
#include "tests/cuda_on_cpu/block.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <ucontext.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

/* What goes on between the fibres is not the kernels': sanitizers would take a jump for the end of
 * a stack, and the order of turns for a race. */
#define UNSEEN __attribute__((noinline, no_sanitize("address", "thread")))

#define INLINE static inline __attribute__((always_inline, no_sanitize("address", "thread")))

uint3 threadIdx, blockIdx, blockDim, gridDim;

namespace
{

/* Stacks begin at different places in their pages: otherwise all would use the same few lines of
 * the caches, which then hold eight threads. An odd number of lines apart, they use all of them. */
enum {
    MAX_THREADS = 1024,
    LANES = 32,
    STACK_BYTES = 320 * 1024,
    STAGGERED = 64,
    STAGGER_BYTES = 17 * 64,
    GUARD_BYTES = 4096
};

/* Where warps and blocks meet. Two rooms by turns: who leaves a meeting late still finds its own,
 * for nobody can be two meetings ahead of him. */
struct meeting {
    unsigned turn, arrived;
    meeting_kind kind;
    uint64_t given[2][LANES];
    unsigned votes[2]; /* a bit for each lane that gave more than 0 */
    unsigned count[2];
};

struct fibre {
    void *place[5]; /* of __builtin_setjmp */
    bool started, done;
#ifdef __SANITIZE_THREAD__
    void *tsan;
#endif
};

fibre fibres[MAX_THREADS];
void *host_place[5];
meeting block_meeting, warp_meetings[MAX_THREADS / LANES];
unsigned n_threads, n_alive;
const std::function<void()> *body;
char begins, ends; /* what the host and the block's threads wait for, and nobody else */

/* Threads that can go on. The next is the one that waits longest, so that warps keep step, or the
 * one that came last, so that one runs ahead as far as it can. */
unsigned ready[MAX_THREADS], ready_first, n_ready;
bool keeps_step;
uint64_t chance;

/* Not chance.h, whose accesses the sanitizers would see. */
INLINE uint64_t next_chance()
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return chance >> 33;
}

[[noreturn]] UNSEEN void give_up(const char *why)
{
    fprintf(stderr, "block %u, at thread %u: %s\n", blockIdx.x, threadIdx.x, why);
    abort();
}

INLINE void wake(unsigned thread)
{
    ready[(ready_first + n_ready++) % MAX_THREADS] = thread;
}

INLINE unsigned next_ready()
{
    unsigned at = keeps_step ? ready_first : (ready_first + n_ready - 1) % MAX_THREADS;

    ready_first = (ready_first + keeps_step) % MAX_THREADS;
    n_ready--;
    return ready[at];
}

/* Threads first … first + n − 1, forwards or backwards from any of them on. */
INLINE void wake_all(unsigned first, unsigned n)
{
    unsigned from = (unsigned)(next_chance() % n);
    bool backwards = next_chance() & 1;

    for (unsigned k = 0, thread = from; k < n; k++) {
        if (!fibres[first + thread].done)
            wake(first + thread);
        if (backwards)
            thread = thread == 0 ? n - 1 : thread - 1;
        else
            thread = thread == n - 1 ? 0 : thread + 1;
    }
}

/* The thread sanitizer is told of fibres, and of what meetings order. */
#ifdef __SANITIZE_THREAD__
void *host_tsan;

UNSEEN void tsan_switch(void *to)
{
    __tsan_switch_to_fiber(to, __tsan_switch_to_fiber_no_sync);
}

UNSEEN void tsan_give(void *at)
{
    __tsan_release(at);
}

UNSEEN void tsan_take(void *at)
{
    __tsan_acquire(at);
}
#else
void tsan_give(void *)
{
}

void tsan_take(void *)
{
}
#endif

/* In a function of its own: a jump must not lead into the frame it comes from. */
[[noreturn]] UNSEEN void jump(void **place)
{
    __builtin_longjmp(place, 1);
}

[[noreturn]] void start(fibre *f);

/* Goes on where `f` left off. */
[[noreturn]] UNSEEN void enter(fibre *f)
{
#ifdef __SANITIZE_THREAD__
    tsan_switch(f->tsan);
#endif
    if (f->started)
        jump(f->place);
    start(f);
}

/* The next fibre's turn; the host's when none can go on. */
[[noreturn]] UNSEEN void go_on()
{
    if (n_ready > 0) {
        threadIdx.x = next_ready();
        enter(&fibres[threadIdx.x]);
    }
#ifdef __SANITIZE_THREAD__
    tsan_switch(host_tsan);
#endif
    jump(host_place);
}

/* A fibre waits here for its next turn: a macro, for functions that call __builtin_setjmp() are not
 * inlined. */
#define GIVE_WAY(from)                                                                             \
    do {                                                                                           \
        if (__builtin_setjmp((from)->place) == 0)                                                  \
            go_on();                                                                               \
    } while (0)

INLINE void open_meeting(meeting *m, unsigned first, unsigned n)
{
    m->arrived = 0;
    m->turn++;
    wake_all(first, n);
}

/* A fibre lives on from block to block. */
UNSEEN void live()
{
    fibre *self = &fibres[threadIdx.x];

    for (;;) {
        tsan_take(&begins);
        (*body)();
        tsan_give(&ends);
        self->done = true;
        n_alive--;
        /* A block does not wait for threads that have ended. */
        if (block_meeting.arrived && block_meeting.arrived == n_alive)
            open_meeting(&block_meeting, 0, n_threads);
        GIVE_WAY(self);
    }
}

[[noreturn]] UNSEEN void start(fibre *f)
{
    ucontext_t context;
    void *stack =
        mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE) != 0)
        give_up("no memory for a stack");
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = STACK_BYTES - (size_t)(f - fibres) % STAGGERED * STAGGER_BYTES;
    context.uc_link = nullptr;
    makecontext(&context, live, 0);
    f->started = true;
    setcontext(&context);
    give_up("setcontext came back");
}

/* Until no fibre can go on. */
UNSEEN void run_fibres()
{
    if (__builtin_setjmp(host_place) == 0)
        go_on();
}

/* The room of this meeting. */
INLINE unsigned arrive(meeting *m, meeting_kind kind)
{
    if (m->arrived > 0 && m->kind != kind)
        give_up("waits in another call than the threads that it should meet");
    m->kind = kind;
    m->arrived++;
    return m->turn % 2;
}

} // namespace

UNSEEN const uint64_t *meet_warp(meeting_kind kind, unsigned mask, uint64_t mine, unsigned *votes)
{
    unsigned thread = threadIdx.x, first = thread / LANES * LANES;
    meeting *m = &warp_meetings[thread / LANES];
    unsigned room = arrive(m, kind);

    if (mask != ~0u)
        give_up("parts of warps cannot meet here");
    m->given[room][thread % LANES] = mine;
    m->votes[room] = (m->arrived == 1 ? 0 : m->votes[room]) | (mine ? 1u << thread % LANES : 0);
    /* Votes and shuffles hand over their values and order no other memory. */
    if (kind == MEET_SYNCWARP)
        tsan_give(&m->given[room]);
    if (m->arrived == LANES)
        open_meeting(m, first, LANES);
    GIVE_WAY(&fibres[thread]);
    if (kind == MEET_SYNCWARP)
        tsan_take(&m->given[room]);
    if (votes)
        *votes = m->votes[room];
    return m->given[room];
}

UNSEEN int meet_block(meeting_kind kind, bool mine)
{
    meeting *m = &block_meeting;
    bool first = m->arrived == 0;
    unsigned room = arrive(m, kind), thread = threadIdx.x;

    m->count[room] = (first ? 0 : m->count[room]) + mine;
    tsan_give(&m->count[room]);
    if (m->arrived == n_alive)
        open_meeting(m, 0, n_threads);
    GIVE_WAY(&fibres[thread]);
    tsan_take(&m->count[room]);
    return (int)m->count[room];
}

UNSEEN void run_block(unsigned threads, uint64_t seed, const std::function<void()> &thread)
{
    if (threads == 0 || threads % LANES != 0 || threads > MAX_THREADS)
        give_up("a block must be of whole warps, and of 1024 threads at most");
    chance = seed;
    keeps_step = next_chance() % 8 == 0;
    body = &thread;
    n_threads = n_alive = threads;
    block_meeting.arrived = 0;
    for (meeting &m : warp_meetings)
        m.arrived = 0;
    for (unsigned k = 0; k < threads; k++)
        fibres[k].done = false;
#ifdef __SANITIZE_THREAD__
    host_tsan = __tsan_get_current_fiber();
    for (unsigned k = 0; k < threads; k++) /* here: a fibre that made another would come before it */
        if (!fibres[k].tsan)
            fibres[k].tsan = __tsan_create_fiber(0);
#endif
    tsan_give(&begins);
    wake_all(0, threads);
    run_fibres();
    tsan_take(&ends);
    if (n_alive > 0)
        give_up("threads wait for others of their warp or block that never come");
}
