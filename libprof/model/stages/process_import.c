#include "libprof/model/stages/process_import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/format/python_layout.h"
#include "libprof/model/model.h"
#include "libprof/model/stack_import.h"

/* Sites that other records of a profile name. */

uint32_t seep_process_site(struct seep_model *m, struct seep_resolver *resolver,
                           const struct seep_model_process *p, uint32_t index)
{
    struct seep_profile *found_in = NULL;
    const struct seep_site *site =
        index <= UINT32_MAX / 8
            ? seep_profile_at(p->profile, index * 8, SEEP_CHUNK_SITES, sizeof *site, &found_in)
            : NULL;
    uint16_t space;

    if (!site || site->space >= SEEP_MAX_SPACES ||
        !seep_model_add_space(m, found_in->header->spaces[site->space].name, &space))
        return 0;
    const uint32_t stack = seep_resolve_stack(resolver, p->profile, site->stack);
    const uint32_t found = seep_model_find_site(m, stack, space);
    return found == SEEP_HASH_NONE ? 0 : found + 1;
}

void seep_process_import_written(struct seep_model *m, struct seep_resolver *resolver,
                                 uint32_t process)
{
    struct seep_model_process *p = &m->processes[process];
    const struct seep_rss_sample *most = NULL;

    for (uint32_t i = 0; i < p->samples.n; i++) {
        const struct seep_rss_sample *its = &p->samples.list[i];
        if (its->written_bytes && (!most || its->written_bytes > most->written_bytes))
            most = its;
    }
    if (most)
        p->written_site_plus_1 = seep_process_site(m, resolver, p, most->written_site);
}

/* ---- texts --------------------------------------------------------------------------------- */

/* Copies each text into one block that the process owns. */
static int own_texts(struct seep_model_process *p)
{
    struct seep_process_identity *id = &p->id;
    const char **texts[] = {&id->file, &id->host, &id->exe, &id->cwd, &id->allocator, &id->job_id};
    size_t n_texts = sizeof texts / sizeof *texts, n_bytes = id->argv_bytes;

    for (size_t i = 0; i < n_texts; i++)
        n_bytes += strlen(*texts[i]) + 1;
    char *at = p->texts = malloc(n_bytes + 1);
    if (!at)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n_texts; i++) {
        size_t n = strlen(*texts[i]) + 1;
        *texts[i] = memcpy(at, *texts[i], n);
        at += n;
    }
    id->argv = memcpy(at, id->argv, id->argv_bytes);
    return 0;
}

/* ---- the header ---------------------------------------------------------------------------- */

static uint32_t arena_bytes(uint32_t python_version)
{
    const struct seep_python_layout *layout = seep_python_layout_find(python_version);

    return layout ? layout->arena_bytes : 0;
}

/* −1: it is not known, or makes no sense. */
static int32_t less_1(uint32_t plus_1)
{
    return plus_1 <= INT32_MAX ? (int32_t)plus_1 - 1 : -1;
}

static int32_t or_none(uint32_t size)
{
    return size && size <= INT32_MAX ? (int32_t)size : -1;
}

static struct seep_process_identity identity_of(const struct seep_profile *profile)
{
    const struct seep_header *h = profile->header;

    return (struct seep_process_identity){
        .pid = h->pid,
        .ppid = h->ppid,
        .rank = h->rank,
        .local_rank = less_1(h->ranks.local_rank_plus_1),
        .node = less_1(h->ranks.node_plus_1),
        .world_size = or_none(h->ranks.world_size),
        .local_size = or_none(h->ranks.local_size),
        .restart = less_1(h->ranks.restart_plus_1),
        .job_id = h->ranks.job_id,
        .file = profile->name,
        .host = h->host,
        .exe = h->exe,
        .cwd = h->cwd,
        .argv = h->argv,
        .argv_bytes = h->argv_bytes,
        .python_version = h->python_version,
        .python_support = h->python_support,
        .python_unseen = h->python_unseen,
        .page_bytes = seep_header_page_bytes(h),
        .arena_bytes = arena_bytes(h->python_version),
        .allocator = h->allocator,
        .start_unix_ns = h->start_unix_ns,
        .start_own_ns = h->start_ns,
    };
}

static struct seep_process_limits limits_of(const struct seep_header *h)
{
    return (struct seep_process_limits){
        .address_bytes = h->limit_address_bytes,
        .data_bytes = h->limit_data_bytes,
        .cgroup_bytes = h->limit_cgroup_bytes,
        .ram_bytes = h->limit_ram_bytes,
        .cgroup_version = h->limit_cgroup_version,
    };
}

static void import_recording(struct seep_process_recording *r, const struct seep_header *h)
{
    r->cost = h->cost;
    r->sample_bytes = seep_sample_gap(h->sample_bytes, h->coarsest);
    r->uncounted_stacks_bytes = h->uncounted_stacks_bytes;
    r->waited_ns = h->waited_ns;
    r->inherits = h->parent_file[0] != 0;
    r->of_torch = h->origin == SEEP_ORIGIN_TORCH;
    r->of_pprof = h->origin == SEEP_ORIGIN_PPROF;
    r->steps_before = h->steps_before;
    memcpy(r->dropped, h->dropped, sizeof r->dropped);
    memcpy(r->tensors, h->devices.tensors, sizeof r->tensors);
    r->aliases = h->devices.aliases;
    r->n_refused = h->devices.n_refused;
    memcpy(r->uses, h->devices.use, sizeof r->uses);
    r->allocator_settings = h->devices.allocator_settings;
    if (h->devices.n_ooms > SEEP_MAX_OOMS)
        r->ooms_left_out = h->devices.n_ooms - SEEP_MAX_OOMS;
    if (h->host_ooms.n > SEEP_MAX_HOST_OOMS)
        r->host_ooms_left_out = h->host_ooms.n - SEEP_MAX_HOST_OOMS;
    r->cupti = h->devices.cupti;
    r->cupti_error = h->devices.cupti_error;
    memcpy(r->snapshots_refused, h->snapshots.refused, sizeof r->snapshots_refused);
    for (int i = 0; i < SEEP_MAX_COVERAGE; i++)
        r->hooks_seen[i] = h->coverage_seen[i] != 0;
}

/* ---- samples of resident memory ------------------------------------------------------------ */

static uint64_t bounded(uint64_t bytes)
{
    return bytes < (UINT64_C(1) << 47) ? bytes : UINT64_C(1) << 47;
}

static struct seep_rss_sample bounded_sample(const struct seep_rss_sample *s)
{
    return (struct seep_rss_sample){
        .t_ns = s->t_ns,
        .period = s->period,
        .rss_bytes = bounded(s->rss_bytes),
        .heap_live_bytes = bounded(s->heap_live_bytes),
        .heap_free_bytes = bounded(s->heap_free_bytes),
        .maps_bytes = bounded(s->maps_bytes),
        .shm_bytes = bounded(s->shm_bytes),
        .stacks_bytes = bounded(s->stacks_bytes),
        .files_bytes = bounded(s->files_bytes),
        .seep_bytes = bounded(s->seep_bytes),
        .unexplained_bytes = bounded(s->unexplained_bytes),
        .copied_bytes = bounded(s->copied_bytes),
        .written_bytes = bounded(s->written_bytes),
        .written_site = s->written_site,
    };
}

static int import_samples(struct seep_process_samples *samples, const struct seep_header *h)
{
    const struct seep_rss_sample *peak = h->rss_peak.t_ns ? &h->rss_peak : NULL;

    samples->list = calloc(h->n_rss_samples + 1u, sizeof *samples->list);
    if (!samples->list)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < h->n_rss_samples; i++) {
        const struct seep_rss_sample *s = &h->rss_samples[i];
        if (!s->t_ns)
            continue;
        samples->list[samples->n++] = bounded_sample(s);
        if (!peak || s->rss_bytes > peak->rss_bytes)
            peak = s;
    }
    if (peak)
        samples->peak = bounded_sample(peak);
    return 0;
}

/* ---- looks at devices ------------------------------------------------------------------------ */

static int import_looks(struct seep_process_looks *looks, const struct seep_device_notes *notes)
{
    const uint32_t n = notes->n_looks < SEEP_DEVICE_LOOKS ? notes->n_looks : SEEP_DEVICE_LOOKS;
    uint64_t last_ns[SEEP_MAX_DEVICES] = {0};

    looks->list = calloc(n + 1u, sizeof *looks->list);
    if (!looks->list)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct seep_device_look *its = &notes->looks[i];
        if (its->device >= SEEP_MAX_DEVICES || its->t_ns <= last_ns[its->device])
            continue;
        last_ns[its->device] = its->t_ns;
        looks->list[looks->n++] = *its;
    }
    return 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

static int import_threads(struct seep_process_threads *threads, const struct seep_header *h)
{
    for (uint32_t i = 0; i < SEEP_MAX_SLOTS; i++)
        threads->n = h->slots[i].tid ? i + 1 : threads->n;
    threads->list = calloc(threads->n + 1u, sizeof *threads->list);
    if (!threads->list)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < threads->n; i++) {
        struct seep_process_thread *its = &threads->list[i];
        *its = (struct seep_process_thread){.tid = h->slots[i].tid, .n = h->slots[i].threads};
        memcpy(its->name, h->slots[i].name, sizeof its->name);
    }
    return 0;
}

/* ---- timeline ------------------------------------------------------------------------------ */

/* Writes the published rows whose times rise to rows[]; returns how many. */
static uint32_t choose_rows(const struct seep_header *h, uint32_t rows[SEEP_TIMELINE_ROWS])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < h->n_timeline; i++) {
        if (h->timeline[i].t_ns && (!n || h->timeline[i].t_ns > h->timeline[rows[n - 1]].t_ns))
            rows[n++] = i;
    }
    return n;
}

/* The first step begins with the process, which starts and loads: it is left out. */
static void import_cpu(struct seep_model_process *p, const struct seep_header *h,
                       const uint32_t *rows, uint32_t n)
{
    const struct seep_timeline_row *last = &h->timeline[rows[n - 1]], *first = last;

    for (uint32_t i = n; i-- > 0 && h->timeline[rows[i]].period > 1;)
        first = &h->timeline[rows[i]];
    p->cpu_ns = (uint64_t)last->cpu_units * SEEP_CPU_UNIT_NS;
    if (last->period > first->period && last->cpu_units > first->cpu_units)
        p->cpu_ns_a_step = (uint64_t)(last->cpu_units - first->cpu_units) * SEEP_CPU_UNIT_NS /
                           (last->period - first->period);
}

static int import_timeline(struct seep_model_process *p, const struct seep_header *h)
{
    uint32_t rows[SEEP_TIMELINE_ROWS], n = choose_rows(h, rows);

    p->n_rows = n;
    if (!n)
        return 0;
    p->row_t_ns = calloc(n, sizeof *p->row_t_ns);
    p->row_rss = calloc(n, sizeof *p->row_rss);
    p->row_anonymous = calloc(n, sizeof *p->row_anonymous);
    p->row_period = calloc(n, sizeof *p->row_period);
    if (!p->row_t_ns || !p->row_rss || !p->row_anonymous || !p->row_period)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        p->row_t_ns[i] = h->timeline[rows[i]].t_ns;
        p->row_rss[i] = h->timeline[rows[i]].rss_bytes;
        p->row_anonymous[i] = h->timeline[rows[i]].anonymous_bytes;
        p->row_period[i] = h->timeline[rows[i]].period;
    }
    import_cpu(p, h, rows, n);
    return 0;
}

/* ---- what `seep run` saw ------------------------------------------------------------------- */

/* Between rows that lie farther apart than this the process made no event. */
enum { GAP_NS = 500 * 1000 * 1000 };

/* The rows that `seep run` saw in a gap, one after the other; NULL: there are no more. */
static const struct seep_seen_row *seen_in(const struct seep_model_process *p, uint64_t from_ns,
                                           uint64_t to_ns, uint32_t *at)
{
    const struct seep_seen *seen = &p->job->seen;
    const uint32_t own = (uint32_t)(p->entry - p->job->processes) + 1;

    while (*at < seen->n) {
        const struct seep_seen_row *row = &seen->rows[(*at)++];
        const uint64_t t = seep_model_ns(p, row->t_ns);
        if (row->process_plus_1 == own && row->rss_bytes && t > from_ns && t < to_ns)
            return row;
    }
    return NULL;
}

/* The rows of a process while they are being joined. */
struct joined {
    uint64_t *t_ns, *rss, *anonymous, *live;
    uint32_t *period, n, capacity;
};

/* With what was live at the process's row `i`. */
static void join_row(const struct seep_model_process *p, uint32_t i, uint64_t t_ns, uint64_t rss,
                     uint64_t anonymous, uint32_t period, struct joined *j)
{
    j->t_ns[j->n] = t_ns;
    j->rss[j->n] = rss;
    j->anonymous[j->n] = anonymous;
    j->period[j->n] = period;
    for (int s = 0; s < SEEP_MAX_SPACES; s++)
        j->live[(size_t)s * j->capacity + j->n] = p->live[(size_t)s * p->n_rows + i];
    j->n++;
}

/* Behind the process's row `i`; counts where there is no room yet. Periods pass evenly. */
static void join_seen(const struct seep_model_process *p, uint32_t i, struct joined *j)
{
    const uint64_t from = p->row_t_ns[i], to = p->row_t_ns[i + 1];
    const double periods = (double)p->row_period[i + 1] - (double)p->row_period[i];
    const struct seep_seen_row *row;
    uint64_t last = from;

    for (uint32_t at = 0; to - from > GAP_NS && (row = seen_in(p, last, to, &at));) {
        last = seep_model_ns(p, row->t_ns);
        const double share = (double)(last - from) / (double)(to - from);
        if (j->t_ns)
            join_row(p, i, last, bounded(row->rss_bytes), bounded(row->anonymous_bytes),
                     p->row_period[i] + (uint32_t)(periods > 0 ? periods * share : 0), j);
        else
            j->capacity++;
    }
}

static void join(const struct seep_model_process *p, struct joined *j)
{
    for (uint32_t i = 0; i < p->n_rows; i++) {
        if (j->t_ns)
            join_row(p, i, p->row_t_ns[i], p->row_rss[i], p->row_anonymous[i], p->row_period[i], j);
        if (i + 1 < p->n_rows)
            join_seen(p, i, j);
    }
}

/* Where a process makes no events it takes no rows of itself. */
static int add_seen(struct seep_model_process *p)
{
    struct joined j = {.capacity = p->n_rows};

    if (p->job && p->entry && p->live)
        join(p, &j);
    const size_t n = j.capacity;
    if (n == p->n_rows)
        return 0;
    j.t_ns = calloc(n, sizeof *j.t_ns);
    j.rss = calloc(n, sizeof *j.rss);
    j.anonymous = calloc(n, sizeof *j.anonymous);
    j.period = calloc(n, sizeof *j.period);
    j.live = calloc(n * SEEP_MAX_SPACES, sizeof *j.live);
    const bool whole = j.t_ns && j.rss && j.anonymous && j.period && j.live;
    if (whole)
        join(p, &j);
    free(whole ? p->row_t_ns : j.t_ns);
    free(whole ? p->row_rss : j.rss);
    free(whole ? p->row_anonymous : j.anonymous);
    free(whole ? p->row_period : j.period);
    free(whole ? p->live : j.live);
    if (!whole)
        return -SEEP_ENOMEM;
    p->row_t_ns = j.t_ns;
    p->row_rss = j.rss;
    p->row_anonymous = j.anonymous;
    p->row_period = j.period;
    p->live = j.live;
    p->n_rows = j.capacity;
    return 0;
}

static int import_levels(struct seep_model_process *p)
{
    const struct seep_header *h = p->profile->header;
    uint32_t rows[SEEP_TIMELINE_ROWS], n = choose_rows(h, rows);

    if (!n)
        return 0;
    p->live = calloc((size_t)n * SEEP_MAX_SPACES, sizeof *p->live);
    if (!p->live)
        return -SEEP_ENOMEM;
    for (int s = 0; s < SEEP_MAX_SPACES; s++) {
        const uint64_t *live =
            seep_profile_at(p->profile, h->spaces[s].timeline, SEEP_CHUNK_TIMELINES,
                            SEEP_TIMELINE_ROWS * sizeof(uint64_t), NULL);
        for (uint32_t i = 0; live && i < n; i++) {
            uint64_t bytes = live[rows[i]];
            p->live[(size_t)s * n + i] = (int64_t)bytes < 0 ? 0 : bytes;
        }
    }
    return 0;
}

int seep_process_import_levels(struct seep_model_process *p)
{
    const int rc = import_levels(p);

    return rc ? rc : add_seen(p);
}

/* ---- epochs and the end -------------------------------------------------------------------- */

static int import_epochs(struct seep_model_process *p, const struct seep_header *h)
{
    if (!h->n_epochs)
        return 0;
    p->epoch_periods = calloc(h->n_epochs, sizeof *p->epoch_periods);
    if (!p->epoch_periods)
        return -SEEP_ENOMEM;
    for (; p->n_epochs < h->n_epochs; p->n_epochs++)
        p->epoch_periods[p->n_epochs] = h->epochs[p->n_epochs].period;
    return 0;
}

static void import_end(struct seep_model_process *p, const struct seep_header *h)
{
    p->said_kind = h->exit_kind;
    p->said_value = h->exit_value;
    p->execed = h->exit_kind == SEEP_EXIT_EXEC;
    p->end_known = h->end_ns != 0;
    p->end_ns = h->end_ns ? h->end_ns : h->last_ns;
    if (!h->end_ns && p->n_rows && p->row_t_ns[p->n_rows - 1] > p->end_ns)
        p->end_ns = p->row_t_ns[p->n_rows - 1];
}

/* ---- as a whole ---------------------------------------------------------------------------- */

static void find_entry(struct seep_model_process *p, const struct seep_job *job, uint32_t at)
{
    p->job = job;
    if (job && at && at <= job->n_processes && job->processes[at - 1].pid == p->id.pid)
        p->entry = &job->processes[at - 1];
}

int seep_process_import(struct seep_model_process *p, struct seep_profile *profile, uint32_t folder,
                        const struct seep_job *job)
{
    const struct seep_header *h = profile->header;

    p->profile = profile;
    p->folder = folder;
    p->id = identity_of(profile);
    p->limits = limits_of(h);
    p->address_space_bytes = h->address_bytes;
    p->rss_peak_bytes = h->rss_peak_bytes;
    p->start_ns = h->start_ns;
    import_recording(&p->recording, h);
    find_entry(p, job, h->process_plus_1);
    if (own_texts(p) || import_samples(&p->samples, h) || import_looks(&p->looks, &h->devices) ||
        import_threads(&p->threads, h) || import_timeline(p, h) || import_epochs(p, h))
        return -SEEP_ENOMEM;
    import_end(p, h);
    return 0;
}

int seep_process_import_counted(struct seep_model_process *p, uint32_t folder,
                                const struct seep_job *job, uint32_t entry)
{
    const struct seep_process *e = &job->processes[entry];

    p->folder = folder;
    p->job = job;
    p->entry = e;
    p->id = (struct seep_process_identity){
        .pid = e->pid,
        .ppid = e->ppid,
        .rank = -1,
        .local_rank = -1,
        .node = -1,
        .world_size = -1,
        .local_size = -1,
        .restart = -1,
        .job_id = "",
        .file = "",
        .host = job->host,
        .exe = "",
        .cwd = job->cwd,
        .argv = job->argv_bytes ? job->argv : e->name,
        .argv_bytes = job->argv_bytes ? job->argv_bytes
                      : e->name[0]    ? (uint32_t)strlen(e->name) + 1
                                      : 0,
        .allocator = "",
        .start_unix_ns = job->started_unix_ns,
        .start_own_ns = e->start_ns,
    };
    p->start_ns = e->start_ns;
    p->end_known = job->ended_ns != 0;
    p->end_ns = job->ended_ns ? job->ended_ns : e->start_ns;
    return own_texts(p);
}

void seep_process_set_clock(struct seep_model_process *p, int64_t clock_ns)
{
    p->clock_ns = clock_ns;
    p->start_ns = seep_model_ns(p, p->start_ns);
    p->end_ns = seep_model_ns(p, p->end_ns);
    if (p->end_ns < p->start_ns)
        p->end_ns = p->start_ns;
    for (uint32_t i = 0; i < p->n_rows; i++)
        p->row_t_ns[i] = seep_model_ns(p, p->row_t_ns[i]);
    for (uint32_t i = 0; i < p->looks.n; i++)
        p->looks.list[i].t_ns = seep_model_ns(p, p->looks.list[i].t_ns);
}

/* ---- layouts of devices ---------------------------------------------------------------------- */

/* No device has more, and sums stay exact. */
static const uint64_t MAX_BYTES = UINT64_C(1) << 50, TOP_ADDRESS = UINT64_C(1) << 57;

static const struct seep_layout_piece *piece_at(struct seep_profile *profile, uint32_t ref)
{
    struct seep_profile *found_in = NULL;
    const struct seep_layout_piece *piece =
        seep_profile_at(profile, ref, SEEP_CHUNK_LAYOUTS, sizeof *piece, &found_in);

    return found_in == profile ? piece : NULL;
}

static bool is_whole(const struct seep_layout_piece *piece)
{
    return piece->t_ns && piece->t_ns == piece->end_t_ns &&
           piece->n_blocks <= SEEP_LAYOUT_PIECE_BLOCKS && piece->device < SEEP_MAX_DEVICES &&
           piece->reason < SEEP_N_LAYOUT_REASONS;
}

/* The next piece of a chain; NULL at its end, and where the chain is broken. */
static const struct seep_layout_piece *next_of(struct seep_profile *profile,
                                               const struct seep_layout_piece *piece)
{
    const struct seep_layout_piece *next =
        piece->number + 1 < piece->n_pieces ? piece_at(profile, piece->next) : NULL;
    const bool fits = next && is_whole(next) && next->number == piece->number + 1 &&
                      next->n_pieces == piece->n_pieces && next->t_ns == piece->t_ns &&
                      next->device == piece->device && next->reason == piece->reason;

    return fits ? next : NULL;
}

/* How many blocks a chain has; 0 if it is incomplete. */
static size_t length_of(struct seep_profile *profile, const struct seep_layout_piece *piece)
{
    size_t n = 0;

    if (!is_whole(piece) || piece->number || !piece->n_pieces ||
        piece->n_pieces > SEEP_LAYOUT_PIECES)
        return 0;
    for (uint32_t left = piece->n_pieces; piece; piece = next_of(profile, piece)) {
        n += piece->n_blocks;
        if (!--left)
            return n;
    }
    return 0;
}

typedef const struct seep_layout_piece *heads[SEEP_MAX_DEVICES][SEEP_N_LAYOUT_REASONS];

/* The first pieces of the newest complete chains. */
static void find_heads(struct seep_profile *profile, heads found)
{
    for (uint32_t c = profile->first_chunk; c < profile->n_chunks; c++) {
        const uint64_t at = SEEP_HEADER_BYTES + (uint64_t)c * SEEP_CHUNK_BYTES;
        const struct seep_layout_piece *piece = piece_at(profile, (uint32_t)(at / 8));
        if (!piece || !length_of(profile, piece))
            continue;
        const struct seep_layout_piece **head = &found[piece->device][piece->reason];
        if (!*head || piece->t_ns > (*head)->t_ns)
            *head = piece;
    }
}

static bool is_sound(const struct seep_layout_block *block)
{
    return block->bytes && block->bytes <= MAX_BYTES && block->address < TOP_ADDRESS &&
           block->kind >= SEEP_LAYOUT_SEGMENT && block->kind <= SEEP_LAYOUT_TENSOR;
}

static uint64_t bounded_bytes(uint64_t bytes)
{
    return bytes < MAX_BYTES ? bytes : MAX_BYTES;
}

static int add_layout(struct seep_model *m, struct seep_resolver *resolver, uint32_t process,
                      const struct seep_layout_piece *head)
{
    const struct seep_model_process *p = &m->processes[process];
    struct seep_model_layout layout = {.process = process,
                                       .device = head->device,
                                       .reason = (enum seep_layout_reason)head->reason,
                                       .step = seep_model_step(m, p, head->period),
                                       .t_ns = seep_model_ns(p, head->t_ns),
                                       .asked_bytes = bounded_bytes(head->asked_bytes),
                                       .left_out = head->left_out,
                                       .left_out_bytes = bounded_bytes(head->left_out_bytes)};

    layout.blocks = calloc(length_of(p->profile, head), sizeof *layout.blocks);
    if (!layout.blocks ||
        seep_grow(&m->layouts, &m->layouts_capacity, m->n_layouts + 1, sizeof *m->layouts)) {
        free(layout.blocks);
        return -SEEP_ENOMEM;
    }
    for (; head; head = next_of(p->profile, head)) {
        for (uint32_t i = 0; i < head->n_blocks; i++) {
            const struct seep_layout_block *its = &head->blocks[i];
            if (!is_sound(its)) {
                layout.left_out += layout.left_out < UINT32_MAX;
                continue;
            }
            layout.blocks[layout.n_blocks++] = (struct seep_model_layout_block){
                .address = its->address,
                .bytes = its->bytes,
                .site = seep_process_site(m, resolver, p, its->site),
                .kind = (enum seep_layout_kind)its->kind};
        }
    }
    m->layouts[m->n_layouts++] = layout;
    return 0;
}

int seep_process_import_layouts(struct seep_model *m, struct seep_resolver *resolver,
                                uint32_t process)
{
    heads found = {{NULL}};
    int rc = 0;

    find_heads(m->processes[process].profile, found);
    for (unsigned d = 0; d < SEEP_MAX_DEVICES; d++) {
        for (unsigned r = 0; r < SEEP_N_LAYOUT_REASONS && !rc; r++) {
            if (found[d][r])
                rc = add_layout(m, resolver, process, found[d][r]);
        }
    }
    return rc;
}

/* ---- requests that were refused -------------------------------------------------------------- */

static int add_oom(struct seep_model *m, const struct seep_model_oom *its)
{
    if (seep_grow(&m->ooms, &m->ooms_capacity, m->n_ooms + 1, sizeof *m->ooms))
        return -SEEP_ENOMEM;
    m->ooms[m->n_ooms++] = *its;
    return 0;
}

/* ---- of devices ------------------------------------------------------------------------------ */

/* Whether PyTorch's allocator reported later in the same step that it had no room: then the
 * runtime's refusals were its attempts. */
static bool is_a_try(const struct seep_device_notes *notes, const struct seep_device_oom *its)
{
    for (size_t i = 0; its->source == SEEP_OOM_BY_RUNTIME && i < SEEP_MAX_OOMS; i++) {
        const struct seep_device_oom *other = &notes->ooms[i];
        if (other->source == SEEP_OOM_BY_ALLOCATOR && other->device == its->device &&
            other->period == its->period && other->t_ns >= its->t_ns)
            return true;
    }
    return false;
}

/* The space that had no room: the program's own, tensor:N, device:N, or pinned host memory; false
 * if the record names none. */
static bool space_of_oom(struct seep_model *m, const struct seep_model_process *p,
                         const struct seep_device_oom *its, uint16_t *space)
{
    const bool by_runtime = its->source != SEEP_OOM_BY_ALLOCATOR;
    char name[24];

    if (its->source == SEEP_OOM_BY_PROGRAM) {
        if (its->space >= SEEP_MAX_SPACES)
            return false;
        snprintf(name, sizeof name, "%.23s", p->profile->header->spaces[its->space].name);
        return !seep_space_parse(name).host_like && seep_model_add_space(m, name, space);
    }
    if (by_runtime && its->device == SEEP_DEVICE_PINNED)
        return seep_model_add_space(m, "pinned", space);
    if (its->device >= SEEP_MAX_DEVICES)
        return false;
    snprintf(name, sizeof name, "%s:%u", by_runtime ? "device" : "tensor", its->device);
    return seep_model_add_space(m, name, space);
}

static bool is_of_runtime(uint32_t source)
{
    return source != SEEP_OOM_BY_ALLOCATOR && source != SEEP_OOM_BY_PROGRAM;
}

static enum seep_oom_source source_of(const struct seep_device_oom *its)
{
    const bool known = its->source <= SEEP_OOM_BY_PROGRAM && its->source != SEEP_OOM_BY_HOST;

    return known ? (enum seep_oom_source)its->source : SEEP_OOM_BY_RUNTIME;
}

static uint32_t device_of(const struct seep_model *m, uint16_t space)
{
    const struct seep_space_name *name = &m->spaces[space].name;

    if (name->class == SEEP_CLASS_PINNED)
        return SEEP_DEVICE_PINNED;
    return name->device >= 0 && name->device < SEEP_MAX_DEVICES ? (uint32_t)name->device
                                                                : SEEP_DEVICE_OWN;
}

static int add_of_devices(struct seep_model *m, struct seep_resolver *resolver, uint32_t process)
{
    const struct seep_model_process *p = &m->processes[process];
    const struct seep_device_notes *notes = &p->profile->header->devices;

    for (size_t i = 0; i < SEEP_MAX_OOMS; i++) {
        const struct seep_device_oom *its = &notes->ooms[i];
        const bool by_runtime = is_of_runtime(its->source);
        uint16_t space;
        if (!its->t_ns || is_a_try(notes, its) || !space_of_oom(m, p, its, &space))
            continue;
        const struct seep_model_oom oom = {
            .process = process,
            .stack = its->stack ? seep_resolve_stack(resolver, p->profile, its->stack) : 0,
            .device = its->source == SEEP_OOM_BY_PROGRAM ? device_of(m, space) : its->device,
            .space = space,
            .source = source_of(its),
            .step = seep_model_step(m, p, its->period),
            .asked_bytes = its->asked_bytes,
            .allocated_bytes = by_runtime ? 0 : its->allocated_bytes,
            .reserved_bytes = by_runtime ? 0 : its->reserved_bytes,
            .registered_bytes =
                by_runtime && its->device == SEEP_DEVICE_PINNED ? its->allocated_bytes : 0};
        if (add_oom(m, &oom))
            return -SEEP_ENOMEM;
    }
    return 0;
}

/* ---- of the host ----------------------------------------------------------------------------- */

static int add_of_host(struct seep_model *m, struct seep_resolver *resolver, uint32_t process)
{
    const struct seep_model_process *p = &m->processes[process];
    const struct seep_host_ooms *table = &p->profile->header->host_ooms;

    for (size_t i = 0; i < SEEP_MAX_HOST_OOMS; i++) {
        const struct seep_host_oom *its = &table->list[i];
        uint16_t space;
        if (!its->t_ns || !seep_model_add_space(m, "host", &space))
            continue;
        const struct seep_model_oom oom = {
            .process = process,
            .stack = its->stack ? seep_resolve_stack(resolver, p->profile, its->stack) : 0,
            .device = SEEP_DEVICE_HOST,
            .space = space,
            .source = SEEP_OOM_BY_HOST,
            .step = seep_model_step(m, p, its->period),
            .asked_bytes = its->asked_bytes,
            .allocated_bytes = its->live_bytes,
            .refusal = {.requests = its->requests ? its->requests : 1,
                        .address_bytes = its->address_bytes,
                        .data_bytes = its->data_bytes,
                        .limit_address_bytes = its->limit_address_bytes,
                        .limit_data_bytes = its->limit_data_bytes,
                        .met_bytes = its->met_bytes,
                        .met_step = seep_model_step(m, p, its->met_period),
                        .met_by_same = its->met_by_same != 0}};
        if (add_oom(m, &oom))
            return -SEEP_ENOMEM;
    }
    return 0;
}

int seep_process_import_ooms(struct seep_model *m, struct seep_resolver *resolver, uint32_t process)
{
    const int rc = add_of_devices(m, resolver, process);

    return rc ? rc : add_of_host(m, resolver, process);
}
