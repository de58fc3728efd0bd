/* The profile (libprof/format/profile_format.h): records that are published by one of their fields,
 * and records that are written anew.
 *
 * weaker 1: create_locked() of a site does not release it by its slot
 * weaker 2: detail_create() does not release the detail
 * weaker 3: seep_os_unlock() does not release what was written under the lock
 * weaker 4: seep_profile_load() does not keep its passes in order
 * weaker 5: store() of a sample of RSS overwrites it before it is withdrawn
 * weaker 6: store() of a sample of RSS does not release it by its time
 * weaker 7: a reader that compares the times before and after loads the second too early
 *
 * That a name, a frame and a node of the stack tree are released by a field of theirs is not among
 * them: readers come to these by a site only, which is published later. */
#define THREADS 3
#define PLACES  11
#include "memory.pml"

/* Places: fields. */
#define TEXT        0
#define N_BYTES     1
#define STACK_FRAME 2
#define STACK_BELOW 3
#define SITE_STACK  4
#define SITE_SLOT   5
#define SITE_DETAIL 6
#define DETAIL_SITE 7
#define TIME        8
#define LEFT        9
#define RIGHT       10

byte arena_lock;
bool interned;

inline lock()
{
    atomic { arena_lock == 0 -> arena_lock = 1 }
}

inline unlock(t)
{
    if
    :: holds(3) -> fence(t)
    :: else
    fi;
    arena_lock = 0
}

/* One thread enters a name, another a stack with it, its site and that one's detail. */
proctype first(byte t)
{
    lock();
    store(t, TEXT, 1, false);        /* seep_intern_string() */
    store(t, N_BYTES, 1, true);
    interned = true;                 /* seep_ref_index_add(), under the lock */
    unlock(t)
}

proctype second(byte t)
{
    bool known;
    lock();
    known = interned;                /* seep_ref_index_find() */
    if
    :: known ->
        store(t, STACK_BELOW, 1, false);         /* seep_intern_stack() */
        store(t, STACK_FRAME, 1, true);
        store(t, SITE_STACK, 1, false);          /* create_locked() */
        store(t, SITE_SLOT, 1, holds(1));
        store(t, DETAIL_SITE, 1, false);         /* detail_create() */
        store(t, SITE_DETAIL, 1, holds(2))
    :: else
    fi;
    unlock(t)
}

/* seep_profile_load() beside the process that runs: sites, details, then all that they refer to. */
proctype loader()
{
    byte slot, stack, detail, its_site, frame, below, n_bytes, text;
    if
    :: true
    :: !holds(4) -> frame = memory[STACK_FRAME]; n_bytes = memory[N_BYTES]; text = memory[TEXT];
    fi;
    slot = memory[SITE_SLOT];        /* in one word with the stack: seep_site */
    stack = memory[SITE_STACK];
    detail = memory[SITE_DETAIL];
    its_site = memory[DETAIL_SITE];
    if
    :: holds(4) -> frame = memory[STACK_FRAME]; n_bytes = memory[N_BYTES]
    :: else
    fi;
    below = memory[STACK_BELOW];
    text = (holds(4) -> memory[TEXT] : text);
    assert(!slot || stack);
    assert(!detail || its_site);
    assert(!slot || (frame && below && n_bytes && text))
}

/* The newest sample is written over the one before: store() in preload/record/rss_sample.c. So are
 * an entry of the table of processes, a layout, a refused request. */
proctype sampler(byte t)
{
    byte round = 1;
    do
    :: round == 3 -> break
    :: else ->
        store(t, TIME, 0, false);
        if
        :: holds(5) -> fence(t)
        :: else
        fi;
        store(t, LEFT, round, false);
        store(t, RIGHT, round, false);
        store(t, TIME, round, holds(6));
        round++
    od
}

/* Who has it mapped looks at the time before and after. */
proctype watcher()
{
    byte before, left, right, after;
    before = memory[TIME];
    if
    :: !holds(7) -> after = memory[TIME]; left = memory[LEFT]; right = memory[RIGHT]
    :: holds(7) -> left = memory[LEFT]; right = memory[RIGHT]; after = memory[TIME]
    fi;
    assert(!before || before != after || (left == before && right == before))
}

init
{
    if
    :: atomic {
        run first(0);
        run second(1);
        run loader();
        run drain(0);
        run drain(1)
    }
    :: atomic {
        run sampler(2);
        run watcher();
        run drain(2)
    }
    fi
}
