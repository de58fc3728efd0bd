/* `seep run`'s side of frozen copies (preload/snapshot): it notices a copy that is ready, and has
 * a separate process read it, so that a crash of the reader harms neither the job nor it.
 *
 * A reader reads its copy at once, lets it go, and keeps what it has read until it is told to
 * evaluate it. At most one is at work (WAITS, WORKS, GIVEN_UP), and one stands behind it
 * (RESERVE, NEXT). Each holds its process, and a claim on memory; one that keeps what it has read
 * also holds the pipe that tells it. While it reads, the copy holds the slot.
 *
 *     state      holds        when                                                becomes
 *     NONE                    a copy is ready, to be kept in reserve              RESERVE
 *                             a copy is ready, and a reader is at work            NEXT
 *                             a copy is ready, and none is                        WAITS
 *     RESERVE    its pipe     it is 30 s old, or the job has ended, and nobody    WORKS
 *                             is at work: if the limit of all readings allows it
 *                             a later copy is in reserve, or was read, or its     NONE
 *                             reader has no room beside it, or memory is short
 *     NEXT       its pipe     who is at work ends                                 WORKS
 *                             memory is short                                     NONE
 *     WAITS      its pipe     a CPU is idle, somebody waits for what is found,    WORKS
 *                             or the job is 10 s old, or has ended
 *                             memory is short, and nobody stands behind           GIVEN_UP
 *     WORKS                   memory is short, and nobody stands behind           GIVEN_UP
 *     any                     its process ends                                    NONE
 *
 * These tests hold it (tests/viewer/test_copies.c):
 *
 *     NONE → RESERVE      one_in_reserve_is_let_go_at_once_and_told_as_the_job_ends
 *     NONE → NEXT         one_that_waits_makes_way_for_one_that_is_asked_for
 *     NONE → WAITS        a_copy_that_waits_is_read_and_let_go
 *     RESERVE → WORKS     one_in_reserve_is_told_after_half_a_minute_if_no_other_comes
 *                         one_in_reserve_is_not_told_beyond_what_reading_may_cost
 *                         one_in_reserve_of_later_than_what_was_read_is_told_as_the_job_ends
 *                         one_in_reserve_serves_where_the_better_one_came_to_nothing
 *     RESERVE → NONE      one_in_reserve_is_dropped_for_a_better_one
 *                         as_the_job_ends_one_in_reserve_makes_way_for_one_later_still
 *                         one_in_reserve_is_given_up_before_who_is_at_work
 *     NEXT → WORKS        one_whose_turn_comes_as_the_job_ends_is_told
 *     NEXT → NONE         one_in_reserve_is_given_up_before_who_is_at_work
 *     WAITS → WORKS       one_waits_for_an_idle_cpu_until_it_is_a_small_part_of_the_time
 *                         one_that_is_asked_for_is_evaluated_at_once
 *                         one_that_was_not_evaluated_yet_is_as_the_job_ends
 *     WAITS → GIVEN_UP    one_in_reserve_is_given_up_before_who_is_at_work
 *     WORKS → GIVEN_UP    one_at_work_is_given_up_where_memory_is_short
 *     any → NONE          one_that_waits_and_is_killed_leaves_the_next_its_turn
 *                         a_reader_that_is_killed_is_counted_and_the_copy_let_go
 *                         who_is_given_up_while_it_reads_one_in_reserve_is_not_said_to_read
 */
#ifndef SEEP_VIEWER_WATCH_COPIES_H
#define SEEP_VIEWER_WATCH_COPIES_H

#include "viewer/job_folder.h"
#include "viewer/watch/idle_cpu.h"
#include "viewer/watch/reader_ends.h"
#include "viewer/watch/reader_room.h"

#include <stdbool.h>
#include <sys/resource.h>

enum seep_reader_state {
    SEEP_READER_NONE,
    SEEP_READER_RESERVE,
    SEEP_READER_NEXT,
    SEEP_READER_WAITS,
    SEEP_READER_WORKS,
    SEEP_READER_GIVEN_UP,
};

struct seep_reader {
    enum seep_reader_state state;
    /* When it entered this state. WAITS: when it had read its copy. */
    uint64_t since_ns;
    pid_t pid;
    /* The pipe by which it is told to evaluate what it has read. */
    int start_fd;
    /* What it takes of the room. NULL: readers are not bounded. */
    struct seep_reader_claim *claim;
    struct seep_copy_of of;
    /* The copy's pid. */
    uint32_t copy;
    /* When the copy was made, by which it is known. */
    uint64_t taken_ns;
    /* Why the copy was made. */
    enum seep_snapshot_source source;
};

struct seep_copies {
    /* NULL: copies are not read. */
    struct seep_job_folder *folder;
    /* Texts of dict keys are shown. */
    bool keys;
    /* NULL: the shipped rules. */
    const char *roles;
    /* All looks are waited for: the job listed them, or it has ended. */
    bool hurries;
    /* Tell on stderr, a terminal, what seep waits for at the end. */
    bool tells;

    struct seep_reader readers[SEEP_READERS];
    struct seep_reader_room room;
    struct seep_idle_cpu idle;
    /* The slot's state when last checked. */
    uint32_t slot_state;
    /* Since when the slot has been in that state. */
    uint64_t slot_since_ns;
};

/* Tells the job that copies are read from now on. */
void seep_copies_open(struct seep_copies *h, struct seep_job_folder *folder, const char *roles,
                      bool keys);

/* Has a copy that is ready read, and frees the slot of one that failed. Gives up readers for which
 * memory is short. Returns the most nanoseconds until it must look again; UINT64_MAX: none reads.
 */
uint64_t seep_copies_look(struct seep_copies *h);

/* A child of `seep run` has ended. True where it was a reader. */
bool seep_copies_reaped(struct seep_copies *h, pid_t pid, int status, const struct rusage *usage);

/* The job has ended: reads what is ready, within limits, and ends every copy. Reaps no child but
 * the readers. SIGINT, SIGQUIT, SIGTERM and SIGHUP, which the caller has blocked, end this at once,
 * and are consumed. */
void seep_copies_close(struct seep_copies *h);

#endif
