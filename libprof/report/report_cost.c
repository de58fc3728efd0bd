/* This file writes what seep itself cost the job. */
#include "libprof/report/report_pieces.h"

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* The process that was slowed most: several slow the job no more than that one. NULL: none was
 * measured. */
static const struct seep_model_process *most_slowed(const struct seep_model *m)
{
    const struct seep_model_process *most = NULL;

    for (uint32_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->recording.cost.felt_ns > (most ? most->recording.cost.felt_ns : 0))
            most = p;
    }
    return most;
}

static struct seep_cost sum(const struct seep_model *m)
{
    struct seep_cost all = {0};

    for (uint32_t i = 0; i < m->n_processes; i++) {
        const struct seep_cost *its = &m->processes[i].recording.cost;
        all.events = seep_sum(all.events, its->events);
        for (int k = 0; k < SEEP_N_COSTS; k++)
            all.ns[k] = seep_sum(all.ns[k], its->ns[k]);
    }
    return all;
}

static struct seep_snapshot_reads readers(const struct seep_model *m)
{
    struct seep_snapshot_reads all = {0};

    for (size_t i = 0; i < m->n_jobs; i++) {
        const struct seep_snapshot_reads *its = m->jobs[i] ? &m->jobs[i]->snapshots : &all;
        if (its == &all)
            continue;
        all.cpu_ns = seep_sum(all.cpu_ns, its->cpu_ns);
        all.taken_ns = seep_sum(all.taken_ns, its->taken_ns);
        all.peak_bytes = its->peak_bytes > all.peak_bytes ? its->peak_bytes : all.peak_bytes;
    }
    return all;
}

/* Of all processes at the job's peak, or of the largest at its own. */
static uint64_t own_bytes(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    const struct seep_rss *job = &pieces->rss->job;
    uint64_t most = job->peak.parts_known ? job->peak.sum.seep_bytes : 0;

    for (uint32_t i = 0; i < m->n_processes; i++) {
        const struct seep_process_samples *s = &m->processes[i].samples;
        for (uint32_t k = 0; k < s->n; k++)
            most = s->list[k].seep_bytes > most ? s->list[k].seep_bytes : most;
    }
    return most;
}

static uint64_t sample_bytes(const struct seep_model *m)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < m->n_processes; i++) {
        const uint64_t its = m->processes[i].recording.sample_bytes;
        most = its > most ? its : most;
    }
    return most;
}

json_t *seep_json_cost(const struct seep_report_pieces *pieces)
{
    const struct seep_model *m = pieces->code->model;
    const struct seep_model_process *p = most_slowed(m);
    const struct seep_cost all = sum(m);
    const struct seep_snapshot_reads read = readers(m);
    json_t *json;
    bool failed = false;

    if (!p || p->end_ns <= p->start_ns)
        return json_null();
    const double of_s = seconds(p->end_ns - p->start_ns);
    const double felt_s = seconds(seep_sum(p->recording.cost.felt_ns, read.taken_ns));
    json = json_object();
    seep_json_set(json, "felt_s", seep_json_real(felt_s), &failed);
    seep_json_set(json, "of_s", seep_json_real(of_s), &failed);
    seep_json_set(json, "share", seep_json_real(felt_s / of_s), &failed);
    seep_json_set(json, "pid", seep_json_count(p->id.pid), &failed);
    seep_json_set(json, "events", seep_json_count(all.events), &failed);
    seep_json_set(json, "events_s", seep_json_real(seconds(all.ns[SEEP_COST_EVENTS])), &failed);
    seep_json_set(json, "stacks_s", seep_json_real(seconds(all.ns[SEEP_COST_STACKS])), &failed);
    seep_json_set(json, "upkeep_s", seep_json_real(seconds(all.ns[SEEP_COST_UPKEEP])), &failed);
    seep_json_set(json, "stops_s", seep_json_real(seconds(all.ns[SEEP_COST_STOPS])), &failed);
    seep_json_set(json, "reader_cpu_s", seep_json_real(seconds(read.cpu_ns)), &failed);
    seep_json_set(json, "reader_taken_s", seep_json_real(seconds(read.taken_ns)), &failed);
    seep_json_set(json, "own_bytes", seep_json_count(own_bytes(pieces)), &failed);
    seep_json_set(json, "reader_peak_bytes", seep_json_count(read.peak_bytes), &failed);
    seep_json_set(json, "sample_bytes", seep_json_count(sample_bytes(m)), &failed);
    return seep_json_whole(json, failed);
}
