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
    struct seep_snapshot_settings *told = &policy->told;
    memset(policy, 0, sizeof(*policy));
    told->mode = SEEP_SNAPSHOT_AUTO;
    if (!text || !*text || strcmp(text, "auto") == 0)
        return;
    told->mode = SEEP_SNAPSHOT_LIST;
    while (*text && told->n_steps < SEEP_SNAPSHOT_LISTED) {
        uint32_t step = 0;
        size_t n = strspn(text, "0123456789");
        for (size_t i = 0; i < n && n <= DIGITS; i++)
            step = step * 10 + (uint32_t)(text[i] - '0');
        if (step && (!told->n_steps || step > told->steps[told->n_steps - 1]))
            told->steps[told->n_steps++] = step;
        text += n;
        text += strcspn(text, "0123456789");
    }
    if (!told->n_steps)
        told->mode = SEEP_SNAPSHOT_OFF; /* "off", or a list without entries */
}

/* ---- what is remembered ---------------------------------------------------------------------- */

static void note_level(struct seep_snapshot_levels *levels, uint64_t live_bytes, bool is_new_step)
{
    if (is_new_step) {
        memmove(levels->lows + 1, levels->lows, sizeof levels->lows - sizeof *levels->lows);
        levels->lows[0] = live_bytes;
    } else if (live_bytes < levels->lows[0]) {
        levels->lows[0] = live_bytes;
    }
    if (live_bytes < levels->least_bytes)
        levels->least_bytes = live_bytes;
    levels->asked_bytes = live_bytes;
}

/* Counts from here on: from slices of time to the first step, or from iterations of one loop to
 * another's. */
static void begin_anew(struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    p->course = (struct seep_snapshot_course){
        .unit = now->by_step ? SEEP_SNAPSHOT_STEPS : SEEP_SNAPSHOT_SLICES,
        .origin = now->step ? now->step - 1 : 0,
        .origin_ns = now->age_ns,
        .gap = now->by_step ? FIRST_STEP : FIRST_SLICE,
        .reserve_gap = now->by_step ? FIRST_STEP : RESERVE_SLICE,
        .seen = now->step - 1, /* any other */
    };
    p->levels.least_bytes = p->levels.forked ? 0 : now->live_bytes;
    memset(p->levels.lows, 0, sizeof p->levels.lows);
}

static void notice(struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    struct seep_snapshot_course *course = &p->course;
    if (course->unit != (now->by_step ? SEEP_SNAPSHOT_STEPS : SEEP_SNAPSHOT_SLICES) ||
        now->step < course->seen)
        begin_anew(p, now);
    note_level(&p->levels, now->live_bytes, now->step != course->seen);
    /* Slices of time count from the end of imports on. */
    if (!now->by_step && now->importing && !course->last)
        course->origin = now->step;
    course->seen = now->step;
}

static void note_stop(struct seep_snapshot_stops *stops, uint64_t stop_ns)
{
    stops->all_ns += stop_ns;
    if (stop_ns)
        stops->last_ns = stop_ns;
}

/* ---- what is decided: these change nothing --------------------------------------------------- */

static bool is_listed(const struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    return now->by_step && p->n_passed < p->told.n_steps && now->step >= p->told.steps[p->n_passed];
}

static uint64_t next_stop(const struct seep_snapshot_policy *p,
                          const struct seep_snapshot_moment *now)
{
    return p->stops.last_ns ? p->stops.last_ns : now->anonymous_bytes / BYTES_PER_STOP_NS;
}

/* What the reading of the next copy takes from the job, if it is like the earlier ones. */
static uint64_t next_taken(const struct seep_snapshot_moment *now)
{
    return now->n_read ? now->taken_ns / now->n_read : 0;
}

static bool affords_stop(const struct seep_snapshot_policy *p,
                         const struct seep_snapshot_moment *now)
{
    return p->stops.all_ns + next_stop(p, now) <=
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
    return now->step > p->course.origin ? now->step - p->course.origin : 0;
}

/* Copies that are evaluated may be made: with one of the preparation phase, the reader would miss
 * what follows. */
static bool has_begun(const struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    return since_origin(p, now) >= p->course.gap &&
           (!now->by_loop || now->age_ns - p->course.origin_ns >= LOOP_MS * MILLISECOND);
}

/* Before the first copy that is evaluated, those in reserve take half of the free time at most: it
 * is that first one that a training needs. After it, a copy in reserve is made only while the
 * reader of the last copy waits for a CPU, maybe until the job ends. Two readers at work take
 * memory twice. */
static bool is_reserve_due(const struct seep_snapshot_policy *p,
                           const struct seep_snapshot_moment *now)
{
    const struct seep_snapshot_course *course = &p->course;
    if (!course->reserve_gap || since_origin(p, now) < course->reserve_gap)
        return false;
    if (course->copied_ns && now->age_ns - course->copied_ns < RESERVE_MS * MILLISECOND)
        return false;
    if (course->last)
        return now->reading && now->reader_waits && affords_stop(p, now);
    return !now->reading && next_stop(p, now) <= now->room_ns &&
           p->stops.all_ns + next_stop(p, now) <= FREE_STOP_MS / 2 * MILLISECOND;
}

/* What a step takes and gives back is not growth: after the first copy, the lowest levels of the
 * last steps count. */
static bool has_grown(const struct seep_snapshot_policy *p, const struct seep_snapshot_moment *now)
{
    uint64_t level = now->live_bytes;

    for (size_t i = 0; p->course.last && i < SEEP_SNAPSHOT_LOWS; i++)
        level = p->levels.lows[i] && p->levels.lows[i] < level ? p->levels.lows[i] : level;
    return level >= p->levels.least_bytes && level - p->levels.least_bytes >= GROWN_BYTES;
}

/* A program that only imports has nothing to look at. */
static bool is_importing_first(const struct seep_snapshot_policy *p,
                               const struct seep_snapshot_moment *now)
{
    return now->importing && !p->course.last;
}

static enum seep_snapshot_answer decide(const struct seep_snapshot_policy *p,
                                        const struct seep_snapshot_moment *now, bool falls)
{
    if (now->asked || is_listed(p, now))
        return SEEP_SNAPSHOT_DUE;
    if (p->told.mode != SEEP_SNAPSHOT_AUTO || is_importing_first(p, now) || !has_grown(p, now) ||
        falls)
        return SEEP_SNAPSHOT_NOT_DUE;
    if (!has_begun(p, now) || now->reading)
        return is_reserve_due(p, now) ? SEEP_SNAPSHOT_RESERVE : SEEP_SNAPSHOT_NOT_DUE;
    return is_affordable(p, now) ? SEEP_SNAPSHOT_DUE : SEEP_SNAPSHOT_TOO_EXPENSIVE;
}

static enum seep_snapshot_answer decide_last(const struct seep_snapshot_policy *p,
                                             const struct seep_snapshot_moment *now)
{
    const struct seep_snapshot_course *course = &p->course;
    const uint32_t least = now->by_step ? FIRST_STEP : RESERVE_SLICE;
    const uint32_t since = now->step > course->last ? now->step - course->last : 0;
    const uint32_t old = now->step / (course->before_last ? OLDER_SHARE : OLD_SHARE);
    if (since_origin(p, now) < least || since <= old || !has_grown(p, now) || now->reading)
        return SEEP_SNAPSHOT_NOT_DUE;
    return is_affordable(p, now) ? SEEP_SNAPSHOT_DUE : SEEP_SNAPSHOT_TOO_EXPENSIVE;
}

/* ---- questions and events -------------------------------------------------------------------- */

static enum seep_snapshot_answer report_cost_once(struct seep_snapshot_policy *p,
                                                  enum seep_snapshot_answer answer)
{
    if (answer != SEEP_SNAPSHOT_TOO_EXPENSIVE)
        return answer;
    const bool reported = p->course.cost_reported;
    p->course.cost_reported = true;
    return reported ? SEEP_SNAPSHOT_NOT_DUE : answer;
}

enum seep_snapshot_answer seep_snapshot_policy_ask(struct seep_snapshot_policy *p,
                                                   const struct seep_snapshot_moment *now)
{
    if (p->told.mode == SEEP_SNAPSHOT_OFF)
        return SEEP_SNAPSHOT_NOT_DUE;
    const bool falls = now->live_bytes < p->levels.asked_bytes; /* something is being torn down */
    notice(p, now);
    return report_cost_once(p, decide(p, now, falls));
}

enum seep_snapshot_answer seep_snapshot_policy_ask_last(struct seep_snapshot_policy *p,
                                                        const struct seep_snapshot_moment *now)
{
    if (p->told.mode != SEEP_SNAPSHOT_AUTO)
        return SEEP_SNAPSHOT_NOT_DUE;
    notice(p, now);
    return report_cost_once(p, decide_last(p, now));
}

enum seep_snapshot_answer seep_snapshot_policy_ask_at_oom(struct seep_snapshot_policy *p)
{
    if (p->told.mode != SEEP_SNAPSHOT_AUTO || p->oom_seen)
        return SEEP_SNAPSHOT_NOT_DUE;
    p->oom_seen = true;
    return SEEP_SNAPSHOT_DUE;
}

void seep_snapshot_policy_done(struct seep_snapshot_policy *p,
                               const struct seep_snapshot_moment *now, uint64_t stop_ns)
{
    struct seep_snapshot_course *course = &p->course;
    const uint32_t since = since_origin(p, now);
    while (is_listed(p, now))
        p->n_passed++;
    course->before_last = course->last;
    course->last = now->step;
    if (since >= course->gap)
        course->gap = course->before_last ? 2 * since : since + since / 2;
    course->reserve_gap = RESERVE_TIMES * since;
    course->copied_ns = now->age_ns;
    course->cost_reported = false;
    p->levels.least_bytes = now->live_bytes;
    p->levels.forked = false;
    note_stop(&p->stops, stop_ns);
}

void seep_snapshot_policy_reserved(struct seep_snapshot_policy *p,
                                   const struct seep_snapshot_moment *now, uint64_t stop_ns)
{
    p->course.reserve_gap = RESERVE_TIMES * since_origin(p, now);
    p->course.copied_ns = now->age_ns;
    note_stop(&p->stops, stop_ns);
}

void seep_snapshot_policy_felt(struct seep_snapshot_policy *p, uint64_t felt_ns)
{
    p->stops.all_ns += felt_ns;
    p->stops.last_ns += felt_ns;
}

bool seep_snapshot_policy_affords(const struct seep_snapshot_policy *p,
                                  const struct seep_snapshot_moment *now, uint64_t stop_ns)
{
    return p->stops.all_ns + stop_ns <= FREE_IN_PLACE_MS * MILLISECOND + now->age_ns / STOP_SHARE &&
           stop_ns <= now->room_ns;
}

void seep_snapshot_policy_after_fork(struct seep_snapshot_policy *p)
{
    p->course = (struct seep_snapshot_course){0};
    p->levels.forked = true;
    p->stops = (struct seep_snapshot_stops){0};
    p->oom_seen = false;
}
