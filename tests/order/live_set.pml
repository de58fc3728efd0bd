/* The live set's words (libprof/runtime/store/live_blocks.h): a page with two, of which the second
 * becomes a link to a table. Three threads: one puts a block and hands it to another, which takes
 * it; one puts a large block, so that words are moved meanwhile; one walks through the page.
 *
 * weaker 1: seep_live_fill() does not release the site that the word refers to
 * weaker 2: link_make() does not release the word that it moves
 * weaker 3: seep_live_search() reads the table's words before the link to it
 * weaker 4: seep_live_remove() takes a line's last word as if nobody moved it
 * weaker 5: put_large() puts the first word before the rest */
#define THREADS 4
#define PLACES  8
#include "memory.pml"

/* Places. */
#define FIRST      0 /* of the page's two words; it is full */
#define LAST       1
#define TABLE      2 /* three words */
#define TABLE_END  5
#define SITE       5
#define LARGE_SITE 6

/* Words. */
#define EMPTY   0
#define EMPTIED 1
#define BLOCK   2
#define LARGE   3
#define REST    4
#define LINK    5
#define OTHER   6

#define is_empty(word) ((word) <= EMPTIED)

byte slab_lock;
bool handed, taken;

/* seep_live_fill(): `done` tells whether it was empty. */
inline fill(t, where, word)
{
    load(t, where, now, k);
    done = false;
    if
    :: is_empty(now) -> swap(t, where, now, word, holds(1), done)
    :: else
    fi
}

/* link_make(), with the lock. */
inline make_link(t)
{
    atomic { slab_lock == 0 -> slab_lock = 1 };
    load(t, LAST, old, k);
    done = false;
    do
    :: old == LINK || done -> break
    :: else ->
        store(t, TABLE, old, false);
        swap(t, LAST, old, LINK, holds(2), done);
        if
        :: done
        :: else -> store(t, TABLE, EMPTY, false); load(t, LAST, old, k)
        fi
    od;
    fence(t); /* seep_os_unlock() releases */
    slab_lock = 0;
    old = 0
}

/* put_word() */
inline put(t, word)
{
    load(t, LAST, now, k);
    done = false;
    if
    :: now != LINK -> fill(t, LAST, word)
    :: else
    fi;
    if
    :: done
    :: else ->
        make_link(t);
        done = false;
        at = TABLE;
        do
        :: done || at == TABLE_END -> break
        :: else -> fill(t, at, word); at++
        od;
        assert(done)
    fi;
    at = 0; now = 0; done = false
}

/* seep_live_search(): `found` is where it was seen, or removed; 0: nowhere. */
inline search(t, word, removes)
{
    found = 0;
    early = false;
    if
    :: !holds(3) -> early = true /* what the processor may do then */
    :: true
    fi;
    if
    :: early -> at = TABLE;
        do
        :: at == TABLE_END -> break
        :: else -> load(t, at, seen[at - TABLE], k); at++
        od
    :: else
    fi;
    load(t, LAST, now, k);
    if
    :: now == word && removes && holds(4) ->
        swap(t, LAST, word, EMPTIED, true, done);
        found = (done -> LAST : 0)
    :: now == word && removes && !holds(4) -> store(t, LAST, EMPTIED, true); found = LAST
    :: now == word && !removes -> found = LAST
    :: else
    fi;
    load(t, LAST, now, k);
    if
    :: !found && now == LINK ->
        at = TABLE;
        do
        :: found || at == TABLE_END -> break
        :: else ->
            if
            :: early -> now = seen[at - TABLE]
            :: else -> load(t, at, now, k)
            fi;
            if
            :: now == word && removes -> store(t, at, EMPTIED, true); found = at
            :: now == word && !removes -> found = at
            :: else
            fi;
            at++
        od
    :: else
    fi;
    at = 0; now = 0; done = false
}

/* Its site is known through the word: a load that depends on it. */
inline look_at_site(t, where)
{
    load(t, where, now, k);
    assert(now == 1);
    now = 0
}

/* seep_live_put_slow(), and the job hands the block on: by a lock, or whatever it has. */
proctype putter(byte t)
{
    byte now, old, at, k;
    bool done;
    store(t, SITE, 1, false);
    put(t, BLOCK);
    fence(t);
    handed = true
}

/* seep_live_take_slow() */
proctype taker(byte t)
{
    byte now, at, k, found;
    byte seen[3];
    bool done, early;
    handed;
    search(t, BLOCK, true);
    assert(found != 0);
    look_at_site(t, SITE);
    fence(t);
    taken = true
}

/* put_large(): a walker that sees the first word finds the rest. */
proctype large_putter(byte t)
{
    byte now, old, at, k;
    bool done;
    store(t, LARGE_SITE, 1, false);
    if
    :: holds(5) -> put(t, REST); put(t, LARGE)
    :: else -> put(t, LARGE); put(t, REST)
    fi
}

/* next_block() beside other threads (live_walk.c) */
proctype walker(byte t)
{
    byte now, at, k, found, word;
    byte seen[3];
    bool done, early;
    load(t, LAST, word, k);
    if
    :: word == LINK && holds(3) ->
        load(t, TABLE, word, k);
        assert(word != EMPTY) /* what the link took away lies there, or was removed */
    :: else
    fi;
    if
    :: word == BLOCK -> look_at_site(t, SITE)
    :: word == LARGE -> look_at_site(t, LARGE_SITE); search(t, REST, false); assert(found != 0)
    :: else
    fi
}

/* In the end each block is in one place, or in none. */
proctype judge()
{
    byte at, n_blocks, n_large, n_rest;
    timeout;
    at = LAST;
    do
    :: at == TABLE_END -> break
    :: else ->
        n_blocks = n_blocks + (memory[at] == BLOCK);
        n_large = n_large + (memory[at] == LARGE);
        n_rest = n_rest + (memory[at] == REST);
        at++
    od;
    assert(taken && n_blocks == 0 && n_large == 1 && n_rest == 1)
}

init
{
    atomic {
        memory[FIRST] = OTHER;
        run putter(0);
        run taker(1);
        run large_putter(2);
        run walker(3);
        run drain(0);
        run drain(1);
        run drain(2);
        run judge()
    }
}
