#include "preload/cost/meter.h"

#include "libprof/runtime/store/arena.h"
#include "libprof/runtime/store/os.h"

enum {
    MEMORY = 64,       /* the mean is of about so many events that were timed */
    MAX_NS = 20000,    /* an event takes no longer: the thread had lost its CPU, or a page */
    CALIBRATIONS = 16, /* of the clock */
};

static struct {
    uint32_t number;
    uint64_t most_ns; /* of one thread */
} window;

static uint64_t clock_ns; /* that it takes to ask the clock: part of what is measured; 0: unknown */

static uint64_t now_ns(void)
{
    return seep_os_clock_ns(CLOCK_MONOTONIC);
}

static void calibrate(void)
{
    uint64_t least = MAX_NS;
    for (int i = 0; i < CALIBRATIONS; i++) {
        const uint64_t began = now_ns(), took = now_ns() - began;
        least = took < least ? took : least;
    }
    __atomic_store_n(&clock_ns, least ? least : 1, __ATOMIC_RELAXED);
}

/* A thread meets a window when it first spends something in it. */
static void spend(struct seep_meter *meter, uint64_t ns)
{
    const uint32_t number = __atomic_load_n(&window.number, __ATOMIC_RELAXED);
    if (meter->window != number) {
        meter->window = number;
        meter->window_ns = 0;
    }
    meter->window_ns += ns;
    uint64_t most = __atomic_load_n(&window.most_ns, __ATOMIC_RELAXED);
    while (meter->window_ns > most &&
           !__atomic_compare_exchange_n(&window.most_ns, &most, meter->window_ns, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

uint64_t seep_meter_window(void)
{
    const uint64_t most = __atomic_exchange_n(&window.most_ns, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&window.number, 1, __ATOMIC_RELAXED);
    return most;
}

void seep_meter_add(struct seep_meter *meter, enum seep_cost_kind kind, uint64_t ns)
{
    struct seep_header *header = seep_arena.header;
    meter->apart_ns += ns;
    if (header)
        __atomic_fetch_add(&header->cost.ns[kind], ns, __ATOMIC_RELAXED);
    spend(meter, ns);
}

uint64_t seep_meter_begin(struct seep_meter *meter, bool by_chance)
{
    const bool chosen = meter->by_chance;
    meter->by_chance = by_chance;
    if (!chosen || ++meter->chosen % SEEP_EVENTS_PER_TIMED)
        return 0;
    if (!__atomic_load_n(&clock_ns, __ATOMIC_RELAXED))
        calibrate();
    meter->apart_ns = 0;
    return now_ns();
}

static void learn(struct seep_meter *meter, uint64_t took_ns)
{
    const uint64_t beside = meter->apart_ns + __atomic_load_n(&clock_ns, __ATOMIC_RELAXED);
    double its = took_ns > beside ? (double)(took_ns - beside) : 0;
    its = its < MAX_NS ? its : MAX_NS;
    meter->n_timed += meter->n_timed < MEMORY;
    meter->mean_ns += (its - meter->mean_ns) / meter->n_timed;
}

void seep_meter_end(struct seep_meter *meter, uint64_t began_ns, uint32_t ticks)
{
    struct seep_header *header = seep_arena.header;
    learn(meter, now_ns() - began_ns);
    const uint32_t n = ticks - meter->counted - meter->skipped;
    const uint64_t ns = (uint64_t)(n * meter->mean_ns);
    meter->counted = ticks;
    meter->skipped = 0;
    if (header) {
        __atomic_fetch_add(&header->cost.events, n, __ATOMIC_RELAXED);
        __atomic_fetch_add(&header->cost.ns[SEEP_COST_EVENTS], ns, __ATOMIC_RELAXED);
    }
    spend(meter, ns);
}

void seep_meter_after_fork(void)
{
    window.most_ns = 0;
    window.number++;
}
