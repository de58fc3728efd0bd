#include "viewer/watch/reader_ends.h"

#include "viewer/watch/copy_reader.h"
#include "viewer/watch/idle_cpu.h"

#include <sys/wait.h>

#define NS_PER_MS UINT64_C(1000000)
#define MIB       (UINT64_C(1) << 20)

void seep_reader_count_cpu(struct seep_job *job, const struct rusage *usage)
{
    const struct timeval *user = &usage->ru_utime, *system = &usage->ru_stime;
    const uint64_t cpu_ns = (uint64_t)(user->tv_sec + system->tv_sec) * 1000 * NS_PER_MS +
                            (uint64_t)(user->tv_usec + system->tv_usec) * 1000;
    const uint64_t peak_bytes = (uint64_t)usage->ru_maxrss * 1024;

    job->snapshots.cpu_ns += cpu_ns;
    if (!seep_idle_cpu_for_each_task())
        job->snapshots.taken_ns += cpu_ns;
    if (peak_bytes > job->snapshots.peak_bytes)
        job->snapshots.peak_bytes = peak_bytes;
}

void seep_reader_note_short(struct seep_job *job, const struct seep_copy_of *of,
                            const struct seep_reader_claim *claim)
{
    if (!of->process_plus_1 || of->process_plus_1 > SEEP_MAX_PROCESSES)
        return;
    struct seep_process *p = &job->processes[of->process_plus_1 - 1];
    const bool over = claim && claim->is_by_bound;
    uint32_t *n = over ? &p->n_looks_over : &p->n_looks_short,
             *need_mib = over ? &p->over_need_mib : &p->look_need_mib,
             *left_mib = over ? &p->over_left_mib : &p->look_left_mib;
    ++*n;
    if (claim && claim->left_bytes && claim->need_bytes / MIB >= *need_mib) {
        *need_mib = (uint32_t)((claim->need_bytes + MIB - 1) / MIB);
        *left_mib = (uint32_t)(claim->left_bytes / MIB);
    }
}

void seep_reader_note_end(struct seep_job_folder *folder, const struct seep_copy_of *of,
                          const struct seep_reader_claim *claim, int wait_status)
{
    struct seep_snapshot_reads *reads = &folder->job->snapshots;
    const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : SEEP_COPY_NOT_READ;

    if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL &&
        seep_job_folder_own_oom_kill(folder))
        seep_reader_note_short(folder->job, of, NULL);
    else if (status == SEEP_COPY_SHORT)
        seep_reader_note_short(folder->job, of, claim);
    else if (status == SEEP_COPY_READ)
        reads->n_read++;
    else if (status == SEEP_COPY_BARRED)
        reads->n_barred++;
    else if (status != SEEP_COPY_NOT_WANTED)
        reads->n_failed++;
}
