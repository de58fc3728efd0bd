#include "preload/snapshot/snapshot_policy.h"

#include <string.h>

#include "libprof/format/snapshot_format.h"

#define MILLISECOND UINT64_C(1000000)

enum {
    FIRST_STEP = 6,     /* the judge needs as many */
    FIRST_SLICE = 300,  /* without steps: half a minute after the imports */
    RESERVE_SLICE = 10, /* a second after them the first is kept in reserve, … */
    RESERVE_TIMES = 3,  /* … then one after n times as many, n * n times and so on */
    RESERVE_MS = 500, /* and so long after any copy: it costs half a second of CPU, in vain where a
                       * better one follows */
    OLD_SHARE = 10,   /* the only copy is old if 1/n of the steps came after it, … */
    OLDER_SHARE = 2,  /* … the last of several if this many did */
    GROWN_BYTES = 1 << 20,  /* less is no finding */
    STOP_SHARE = 1000,      /* stops may take 1/n of the time … */
    FREE_STOP_MS = 100,     /* … plus this, */
    FREE_IN_PLACE_MS = 250, /* or this if the process itself waits: a job of 400 MB once */
    BYTES_PER_STOP_NS = 12, /* 1 GB in pages of 4 KiB: 76 ms, measured */
    LOOP_MS = 2000,         /* a loop may still turn out to precede the training */
    DIGITS = 9,
};

void seep_snapshot_policy_read(struct seep_snapshot_policy *policy, const char *text)
{
    memset(policy, 0, sizeof(*policy));
    policy->mode = SEEP_SNAPSHOT_AUTO;
    if (!text || !*text || strcmp(text, "auto") == 0)
        return;
    policy->mode = SEEP_SNAPSHOT_LIST;
    while (*text && policy->n_steps < SEEP_SNAPSHOT_LISTED) {
        uint32_t step = 0;
        size_t n = strspn(text, "0123456789");
        for (size_t i = 0; i < n && n <= DIGITS; i++)
            step = step * 10 + (uint32_t)(text[i] - '0');
        if (step && (!policy->n_steps || step > policy->steps[policy->n_steps - 1]))
            policy->steps[policy->n_steps++] = step;
        text += n;
        text += strcspn(text, "0123456789");
    }
    if (!policy->n_steps)
        policy->mode = SEEP_SNAPSHOT_OFF; /* "off", or a list without entries */
}

static void note_low(struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    if (now->step != p->seen) {
        memmove(p->lows + 1, p->lows, sizeof p->lows - sizeof *p->lows);
        p->lows[0] = now->live_bytes;
    } else if (now->live_bytes < p->lows[0]) {
        p->lows[0] = now->live_bytes;
    }
}

/* Starts again when the kind of step changes: from slices of time to the first step, or from
 * iterations of one loop to another's. */
static void notice(struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    if (!p->begun || p->by_step != now->by_step || now->step < p->seen) {
        p->begun = true;
        p->by_step = now->by_step;
        p->origin = now->step ? now->step - 1 : 0;
        p->origin_ns = now->age_ns;
        p->gap = now->by_step ? FIRST_STEP : FIRST_SLICE;
        p->reserve = now->by_step ? FIRST_STEP : RESERVE_SLICE;
        p->last = 0;
        p->several = false;
        p->copied_ns = 0;
        p->least_bytes = p->forked ? 0 : now->live_bytes;
        p->said_dear = false;
        p->seen = now->step - 1; /* any other */
        memset(p->lows, 0, sizeof p->lows);
    }
    note_low(p, now);
    /* A program that only imports has nothing to look at: slices of time count from then on. */
    if (!now->by_step && now->importing && !p->last)
        p->origin = now->step;
    if (now->live_bytes < p->least_bytes)
        p->least_bytes = now->live_bytes;
    p->falls = now->live_bytes < p->level_bytes;
    p->level_bytes = now->live_bytes;
    p->seen = now->step;
}

static bool is_listed(const struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    return now->by_step && p->n_passed < p->n_steps && now->step >= p->steps[p->n_passed];
}

static uint64_t next_stop(const struct seep_snapshot_policy *p,
                          const struct seep_snapshot_moment *now)
{
    return p->last_stop_ns ? p->last_stop_ns : now->anonymous_bytes / BYTES_PER_STOP_NS;
}

/* What the reading of the next copy takes from the job, if it is like the earlier ones. */
static uint64_t next_taken(const struct seep_snapshot_moment *now)
{
    return now->n_read ? now->taken_ns / now->n_read : 0;
}

static bool affords_stop(const struct seep_snapshot_policy *p,
                         const struct seep_snapshot_moment *now)
{
    return p->stop_ns + next_stop(p, now) <=
               FREE_STOP_MS * MILLISECOND + now->age_ns / STOP_SHARE &&
           next_stop(p, now) + next_taken(now) <= now->room_ns;
}

static bool is_affordable(const struct seep_snapshot_policy *p,
                          const struct seep_snapshot_moment *now)
{
    return affords_stop(p, now) &&
           seep_snapshot_may_be_read(now->read_ns, now->n_read, now->job_age_ns);
}

static uint32_t since_origin(const struct seep_snapshot_policy *p,
                             const struct seep_snapshot_moment *now)
{
    return now->step > p->origin ? now->step - p->origin : 0;
}

/* Copies that are read may be made: with one of the preparation phase, the reader would miss what
 * follows. */
static bool has_begun(const struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    return since_origin(p, now) >= p->gap && (p->last || !now->importing) &&
           (!now->by_loop || now->age_ns - p->origin_ns >= LOOP_MS * MILLISECOND);
}

/* Before the first copy that is read, half of the free time is kept for such copies, but the first
 * copy in reserve may take all. After it, a copy in reserve is made only while the reader of the
 * last copy waits for a CPU, maybe until the job ends. Two readers at work take memory twice. */
static bool is_reserve_due(const struct seep_snapshot_policy *p,
                           const struct seep_snapshot_moment *now)
{
    const uint64_t most = FREE_STOP_MS * MILLISECOND / (p->stop_ns ? 2 : 1);
    if (!p->reserve || since_origin(p, now) < p->reserve || now->importing)
        return false;
    if (p->copied_ns && now->age_ns - p->copied_ns < RESERVE_MS * MILLISECOND)
        return false;
    if (p->last)
        return now->reading && now->reader_waits && affords_stop(p, now);
    return !now->reading && p->stop_ns + next_stop(p, now) <= most &&
           next_stop(p, now) <= now->room_ns;
}

/* Reports only the first time until a copy is made. */
static enum seep_snapshot_answer dear(struct seep_snapshot_policy *p)
{
    bool said = p->said_dear;
    p->said_dear = true;
    return said ? SEEP_SNAPSHOT_NOT_DUE : SEEP_SNAPSHOT_DEAR;
}

/* What a step takes and gives back is not growth: after the first copy, the lowest levels of the
 * last steps count. */
static bool has_grown(const struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    uint64_t level = now->live_bytes;

    for (size_t i = 0; p->last && i < SEEP_SNAPSHOT_LOWS; i++)
        level = p->lows[i] && p->lows[i] < level ? p->lows[i] : level;
    return level >= p->least_bytes && level - p->least_bytes >= GROWN_BYTES;
}

enum seep_snapshot_answer seep_snapshot_policy_ask(struct seep_snapshot_policy *p,
                                                   const struct seep_snapshot_moment *now)
{
    if (p->mode == SEEP_SNAPSHOT_OFF)
        return SEEP_SNAPSHOT_NOT_DUE;
    notice(p, now);
    if (now->asked || is_listed(p, now))
        return SEEP_SNAPSHOT_DUE;
    if (p->mode != SEEP_SNAPSHOT_AUTO || !has_grown(p, now) || p->falls)
        return SEEP_SNAPSHOT_NOT_DUE;
    if (!has_begun(p, now) || now->reading)
        return is_reserve_due(p, now) ? SEEP_SNAPSHOT_RESERVE : SEEP_SNAPSHOT_NOT_DUE;
    return is_affordable(p, now) ? SEEP_SNAPSHOT_DUE : dear(p);
}

enum seep_snapshot_answer seep_snapshot_policy_ask_last(struct seep_snapshot_policy *p,
                                                        const struct seep_snapshot_moment *now)
{
    if (p->mode != SEEP_SNAPSHOT_AUTO)
        return SEEP_SNAPSHOT_NOT_DUE;
    notice(p, now);
    const uint32_t least = now->by_step ? FIRST_STEP : RESERVE_SLICE;
    const uint32_t since = now->step > p->last ? now->step - p->last : 0;
    const uint32_t old = now->step / (p->several ? OLDER_SHARE : OLD_SHARE);
    if (since_origin(p, now) < least || since <= old || !has_grown(p, now) || now->reading)
        return SEEP_SNAPSHOT_NOT_DUE;
    return is_affordable(p, now) ? SEEP_SNAPSHOT_DUE : dear(p);
}

static void note_stop(struct seep_snapshot_policy *p, uint64_t stop_ns)
{
    p->stop_ns += stop_ns;
    if (stop_ns)
        p->last_stop_ns = stop_ns;
}

void seep_snapshot_policy_done(struct seep_snapshot_policy *p,
                               const struct seep_snapshot_moment *now, uint64_t stop_ns)
{
    uint32_t since = since_origin(p, now);
    while (is_listed(p, now))
        p->n_passed++;
    p->several = p->last != 0;
    if (since >= p->gap)
        p->gap = p->several ? 2 * since : since + since / 2;
    p->least_bytes = now->live_bytes;
    p->forked = p->said_dear = false;
    p->reserve = RESERVE_TIMES * since;
    p->last = now->step;
    p->copied_ns = now->age_ns;
    note_stop(p, stop_ns);
}

void seep_snapshot_policy_reserved(struct seep_snapshot_policy *p,
                                   const struct seep_snapshot_moment *now, uint64_t stop_ns)
{
    p->reserve = RESERVE_TIMES * since_origin(p, now);
    p->copied_ns = now->age_ns;
    note_stop(p, stop_ns);
}

void seep_snapshot_policy_felt(struct seep_snapshot_policy *p, uint64_t felt_ns)
{
    p->stop_ns += felt_ns;
    p->last_stop_ns += felt_ns;
}

bool seep_snapshot_policy_affords(const struct seep_snapshot_policy *p,
                                  const struct seep_snapshot_moment *now, uint64_t stop_ns)
{
    return p->stop_ns + stop_ns <= FREE_IN_PLACE_MS * MILLISECOND + now->age_ns / STOP_SHARE &&
           stop_ns <= now->room_ns;
}

void seep_snapshot_policy_after_fork(struct seep_snapshot_policy *p)
{
    p->begun = false;
    p->forked = true;
    p->stop_ns = p->last_stop_ns = 0;
}
