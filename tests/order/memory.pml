/* Memory as a processor with weak order has it, for spin, whose own is sequentially consistent.
 *
 * A thread's stores wait in a buffer, from which they reach memory in any order but that of one
 * place, and but that a releasing store waits for all before it (what comes after it does not wait
 * for it). A compare-and-swap takes place in memory; a releasing one waits for the buffer, and so
 * does a fence. A thread sees its own stores. Loads happen as they are written: where one may happen
 * earlier, because it neither depends on the one before nor that one acquires, the model says so.
 *
 * WEAKER is the number of the order that is left out of the model, 0: none. The check takes each of
 * them out in turn, and the model must then fail (tests/order/check_order.py). */
#ifndef WEAKER
#define WEAKER 0
#endif
#define holds(order) (WEAKER != order)

#define MOST 6 /* stores that wait */

typedef buffer {
    byte place[MOST];
    byte value[MOST];
    bool releases[MOST];
    byte n
};
buffer waiting[THREADS];
byte memory[PLACES];

inline store(t, where, what, release)
{
    atomic {
        waiting[t].n < MOST;
        waiting[t].place[waiting[t].n] = where;
        waiting[t].value[waiting[t].n] = what;
        waiting[t].releases[waiting[t].n] = release;
        waiting[t].n++
    }
}

inline fence(t)
{
    waiting[t].n == 0
}

/* `k` is any byte of the caller's. */
inline load(t, where, to, k)
{
    d_step {
        to = memory[where];
        k = 0;
        do
        :: k < waiting[t].n ->
            if
            :: waiting[t].place[k] == where -> to = waiting[t].value[k]
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0
    }
}

inline swap(t, where, from, with, release, done)
{
    atomic {
        !(release) || waiting[t].n == 0;
        if
        :: memory[where] == from -> memory[where] = with; done = true
        :: else -> done = false
        fi
    }
}

/* One of them for each thread that stores. */
proctype drain(byte t)
{
    byte i, k;
    bool may;
end:
    do
    :: atomic {
        waiting[t].n > 0 ->
        i = 0;
        do
        :: i + 1 < waiting[t].n -> i++
        :: break
        od;
        may = !waiting[t].releases[i] || i == 0;
        k = 0;
        do
        :: k < i -> may = may && waiting[t].place[k] != waiting[t].place[i]; k++
        :: else -> break
        od;
        if
        :: may ->
            memory[waiting[t].place[i]] = waiting[t].value[i];
            k = i;
            do
            :: k + 1 < waiting[t].n ->
                waiting[t].place[k] = waiting[t].place[k + 1];
                waiting[t].value[k] = waiting[t].value[k + 1];
                waiting[t].releases[k] = waiting[t].releases[k + 1];
                k++
            :: else -> break
            od;
            waiting[t].n--;
            waiting[t].place[waiting[t].n] = 0;
            waiting[t].value[waiting[t].n] = 0;
            waiting[t].releases[waiting[t].n] = false
        :: else
        fi;
        i = 0; k = 0; may = false
    }
    od
}
