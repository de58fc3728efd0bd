#include "preload/snapshot/snapshot_policy.h"

#include <string.h>

#define MILLISECOND UINT64_C(1000000)

enum {
    FIRST_STEP = 12,        /* steps before have not shown yet what is kept */
    FIRST_SLICE = 100,      /* without steps: ten seconds, for imports grow, too */
    GROWN_BYTES = 1 << 20,  /* less is no finding */
    STOP_SHARE = 1000,      /* one nanosecond of so many may be spent on stops … */
    FREE_STOP_MS = 20,      /* … beyond these, */
    READ_SHARE = 50,        /* and of a CPU, for all of the job, on reading … */
    FREE_READ_MS = 1000,    /* … beyond these */
    BYTES_PER_STOP_NS = 12, /* 1 GB in pages of 4 KiB: 76 ms, measured */
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
        policy->mode = SEEP_SNAPSHOT_OFF; /* "off", or a list of nothing */
}

/* Steps of another kind begin anew: what was slices of time before the first step, or iterations of
 * a loop before another one. */
static void notice(struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    if (!p->begun || p->by_step != now->by_step || now->step < p->last) {
        p->begun = true;
        p->by_step = now->by_step;
        p->origin = now->step ? now->step - 1 : 0;
        p->gap = now->by_step ? FIRST_STEP : FIRST_SLICE;
        p->least_bytes = now->live_bytes;
        p->said_dear = false;
    }
    if (now->live_bytes < p->least_bytes)
        p->least_bytes = now->live_bytes;
    p->last = now->step;
}

static bool is_listed(const struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    return now->by_step && p->n_passed < p->n_steps && now->step >= p->steps[p->n_passed];
}

static bool is_affordable(const struct seep_snapshot_policy *p,
                          const struct seep_snapshot_moment *now)
{
    uint64_t stop = p->last_stop_ns ? p->last_stop_ns : now->anonymous_bytes / BYTES_PER_STOP_NS;
    uint64_t read = now->n_read ? now->read_ns / now->n_read : 0;
    return p->stop_ns + stop <= FREE_STOP_MS * MILLISECOND + now->age_ns / STOP_SHARE &&
           now->read_ns + read <= FREE_READ_MS * MILLISECOND + now->job_age_ns / READ_SHARE;
}

enum seep_snapshot_answer seep_snapshot_policy_ask(struct seep_snapshot_policy *p,
                                                   const struct seep_snapshot_moment *now)
{
    if (p->mode == SEEP_SNAPSHOT_OFF)
        return SEEP_SNAPSHOT_NOT_DUE;
    notice(p, now);
    if (now->asked || is_listed(p, now))
        return SEEP_SNAPSHOT_DUE;
    if (p->mode != SEEP_SNAPSHOT_AUTO || now->step < p->origin || now->step - p->origin < p->gap ||
        now->live_bytes - p->least_bytes < GROWN_BYTES || now->reading)
        return SEEP_SNAPSHOT_NOT_DUE;
    if (is_affordable(p, now))
        return SEEP_SNAPSHOT_DUE;
    bool said = p->said_dear;
    p->said_dear = true;
    return said ? SEEP_SNAPSHOT_NOT_DUE : SEEP_SNAPSHOT_DEAR;
}

void seep_snapshot_policy_done(struct seep_snapshot_policy *p,
                               const struct seep_snapshot_moment *now, uint64_t stop_ns)
{
    uint32_t since = now->step > p->origin ? now->step - p->origin : 0;
    while (is_listed(p, now))
        p->n_passed++;
    if (since >= p->gap)
        p->gap = since + since / 2;
    p->least_bytes = now->live_bytes;
    p->said_dear = false;
    p->stop_ns += stop_ns;
    if (stop_ns)
        p->last_stop_ns = stop_ns;
}

void seep_snapshot_policy_after_fork(struct seep_snapshot_policy *p)
{
    p->begun = false;
    p->stop_ns = p->last_stop_ns = 0;
}
