/* Frozen copies of this process for finding out what holds its memory: whether to make one now, and
 * what became of earlier ones. One at a time in a job; a process that finds the slot taken waits
 * for its next step.
 *
 *     state    holds                    when                                        becomes
 *     NONE                              a copy is due, and the job's slot is free   MAKING
 *     MAKING   the lock; the slot, as   clone() has returned its pid                ALIVE
 *              TAKEN; signals blocked   clone() has failed, or a thread is about    NONE
 *                                       to end the process
 *     ALIVE    its pid; until it has    it was read, or refused, or has died,       NONE
 *              shed what is the job's,  and is reaped at the next look
 *              the lock; it has the     it has not shed that after 250 ms, or       KILLED
 *              slot: TAKEN, READY,      the process ends, and it was waited for
 *              DONE
 *     KILLED   its pid; no slot         it is reaped at once, or at a later look,   NONE
 *                                       if the kernel keeps it
 *
 * A process that is read in place stays in NONE: its thread holds the lock, and the slot, until it
 * was read or the time is over. A forked child begins in NONE. In each state but NONE no other copy
 * is made; while a thread is about to end the process, none is made in NONE.
 *
 * These tests hold it (tests/e2e: test_snapshots, test_copy_ends, test_unborn):
 *
 *     NONE → MAKING       test_it_is_made_where_the_job_asks
 *     MAKING → ALIVE      test_a_job_does_not_notice_200_copies
 *     MAKING → NONE       test_where_no_process_can_be_made_there_is_none
 *                         test_a_program_that_follows_has_none_that_another_thread_just_made
 *                         test_copies_are_made_after_an_exec_that_failed
 *     ALIVE → NONE        test_a_copy_that_is_killed_makes_room_for_the_next
 *                         test_a_container_may_forbid_to_leave_the_table_of_descriptors
 *     ALIVE → KILLED      test_it_is_ended_before_its_maker_goes_on
 *                         test_a_program_that_follows_has_no_child_that_it_does_not_know
 *                         test_it_is_not_waited_for_for_good
 *     KILLED → NONE       test_a_file_server_that_is_silent_does_not_hold_the_job
 *                         test_once_a_killed_copy_is_gone_the_job_is_looked_at_again
 */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_H

#include "libprof/runtime/store/os.h"

struct seep_thread;

/* Called by lower rooms through preload/record/upcalls.h, which documents these. */
void seep_snapshot_look(const struct seep_thread *thread);
void seep_snapshot_at_oom(const struct seep_thread *thread);
void seep_snapshot_before_end(void);
void seep_snapshot_goes_on(void);

/* The job asks for a copy now (seep_holders()). Inside the guard. */
void seep_snapshot_asked(const struct seep_thread *thread);

/* The process is about to end, with most of its memory still intact: the last chance. */
void seep_snapshot_last(const struct seep_thread *thread);

/* The same if the thread has no Python frames: then it is the interpreter, ending, that restores
 * signals. */
void seep_snapshot_python_ends(struct seep_thread *thread);

void seep_snapshot_after_fork(void);
struct seep_lock *seep_snapshot_lock(void);

#endif
