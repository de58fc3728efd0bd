/* Memory of devices, tier by tier: what was taken from the driver, how much of it PyTorch's
 * allocator reports as its own, how much of that its tensors fill, and what none of them
 * explains. */
#include "libprof/report/report_pieces.h"

#include "libprof/base/text.h"
#include "libprof/report/report_said.h"

struct tiers {
    uint64_t driver_bytes, reserved_bytes, tensor_bytes, unexplained_bytes;
};

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The tiers of a process at its end. */
static struct tiers tiers_of(const struct seep_model *m, const struct seep_model_process *p,
                             size_t device)
{
    const struct seep_tensor_books *books = &p->recording.tensors[device];
    struct tiers t = {.reserved_bytes = books->reserved_bytes};

    for (size_t i = 0; i < SEEP_MAX_SPACES; i++) {
        const struct seep_space_name *name =
            p->space_of[i] ? &m->spaces[p->space_of[i] - 1].name : NULL;
        if (!name || name->device != (int)device)
            continue;
        if (name->class == SEEP_CLASS_DEVICE)
            t.driver_bytes = seep_totals_live(&p->spaces[i]);
        else if (name->class == SEEP_CLASS_TENSOR)
            t.tensor_bytes = seep_totals_live(&p->spaces[i]);
    }
    t.unexplained_bytes = above(t.driver_bytes, t.reserved_bytes > t.tensor_bytes ? t.reserved_bytes
                                                                                  : t.tensor_bytes);
    return t;
}

/* The sums over all processes. */
static struct tiers tiers_of_job(const struct seep_model *m, size_t device)
{
    struct tiers sum = {0};

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct tiers its = tiers_of(m, &m->processes[i], device);
        sum.driver_bytes = seep_sum(sum.driver_bytes, its.driver_bytes);
        sum.reserved_bytes = seep_sum(sum.reserved_bytes, its.reserved_bytes);
        sum.tensor_bytes = seep_sum(sum.tensor_bytes, its.tensor_bytes);
        sum.unexplained_bytes = seep_sum(sum.unexplained_bytes, its.unexplained_bytes);
    }
    return sum;
}

static bool has_space(const struct seep_model *m, size_t device)
{
    for (size_t i = 0; i < m->n_spaces; i++)
        if (m->spaces[i].name.class == SEEP_CLASS_DEVICE && m->spaces[i].recorded &&
            m->spaces[i].name.device == (int)device)
            return true;
    return false;
}

static json_t *devices_json(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct tiers t = tiers_of_job(m, i);
        if (has_space(m, i))
            seep_json_append(list,
                             json_pack("{s:I, s:o, s:o, s:o, s:o}", "device", (json_int_t)i,
                                       "driver_bytes", seep_json_count(t.driver_bytes),
                                       "reserved_bytes", seep_json_count(t.reserved_bytes),
                                       "tensor_bytes", seep_json_count(t.tensor_bytes),
                                       "unexplained_bytes", seep_json_count(t.unexplained_bytes)),
                             &failed);
    }
    return seep_json_whole(list, failed);
}

/* NULL: CUPTI was not requested, or CUDA was not used. */
static const char *cupti_state(const struct seep_process_recording *r)
{
    static const char *const states[] = {
        [SEEP_CUPTI_LISTENS] = "listens",
        [SEEP_CUPTI_ABSENT] = "absent",
        [SEEP_CUPTI_REFUSED] = "refused",
    };

    return r->cupti < sizeof states / sizeof *states ? states[r->cupti] : NULL;
}

static json_t *cupti_json(const struct seep_model *m)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_process_recording *r = &m->processes[i].recording;
        if (cupti_state(r))
            seep_json_append(list,
                             json_pack("{s:o, s:s, s:o}", "pid",
                                       seep_json_count(m->processes[i].id.pid), "state",
                                       cupti_state(r), "error",
                                       r->cupti == SEEP_CUPTI_REFUSED ? json_integer(r->cupti_error)
                                                                      : json_null()),
                             &failed);
    }
    return seep_json_whole(list, failed);
}

json_t *seep_json_runtime(const struct seep_model *m)
{
    struct seep_device_aliases sum = {0};
    uint64_t ipc_blocks = 0, refused = 0;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_process_recording *r = &m->processes[i].recording;
        sum.registered_bytes = seep_sum(sum.registered_bytes, r->aliases.registered_bytes);
        sum.registered_peak_bytes =
            seep_sum(sum.registered_peak_bytes, r->aliases.registered_peak_bytes);
        ipc_blocks += above(r->aliases.ipc_opened, r->aliases.ipc_closed);
        refused += r->n_refused;
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "devices", devices_json(m),
                     "registered_bytes", seep_json_count(sum.registered_bytes),
                     "registered_peak_bytes", seep_json_count(sum.registered_peak_bytes),
                     "ipc_blocks", seep_json_count(ipc_blocks), "refused", seep_json_count(refused),
                     "cupti", cupti_json(m));
}

/* Says why CUPTI reports nothing although it was requested. */
static void say_cupti(struct seep_said *said, const struct seep_model_process *p)
{
    const struct seep_process_recording *r = &p->recording;

    if (r->cupti == SEEP_CUPTI_ABSENT)
        seep_said_add(said,
                      "pid %u: --gpu=cupti: no usable libcupti.so was found: add the folder "
                      "of CUDA's libcupti.so to LD_LIBRARY_PATH",
                      p->id.pid);
    else if (r->cupti == SEEP_CUPTI_REFUSED && r->cupti_error == SEEP_CUPTI_TAKEN)
        seep_said_add(said,
                      "pid %u: --gpu=cupti: another tool uses CUPTI, which serves only one "
                      "(error %u): run the job without that tool (nsys, ncu, a profiler of its "
                      "own)",
                      p->id.pid, r->cupti_error);
    else if (r->cupti == SEEP_CUPTI_REFUSED)
        seep_said_add(said, "pid %u: --gpu=cupti: CUPTI refused seep (error %u)", p->id.pid,
                      r->cupti_error);
}

/* Whether some allocator of the job has settings with which it reports no blocks. */
static bool is_silent(const struct seep_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].recording.allocator_settings &
            (SEEP_ALLOCATOR_ASYNC | SEEP_ALLOCATOR_NO_CACHE))
            return true;
    }
    return false;
}

void seep_said_runtime(struct seep_said *said)
{
    for (size_t i = 0; i < said->pieces->code->model->n_processes; i++)
        say_cupti(said, &said->pieces->code->model->processes[i]);
    for (size_t i = 0; i < SEEP_MAX_DEVICES; i++) {
        const struct tiers t = tiers_of_job(said->pieces->code->model, i);
        char bytes[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];
        if (t.unexplained_bytes)
            seep_said_add(
                said,
                "GPU %zu: %s of %s taken from the driver %s; it counts at the lines that "
                "took it",
                i, seep_text_size((double)t.unexplained_bytes, bytes),
                seep_text_size((double)t.driver_bytes, all),
                is_silent(said->pieces->code->model)
                    ? "is not reported by PyTorch's allocator, which is set to keep no cache"
                    : "does not belong to PyTorch's allocator");
    }
}
