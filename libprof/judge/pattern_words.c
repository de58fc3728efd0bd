/* The words of findings: a title that says what happens, and what to do. */
#include "libprof/judge/diagnosis.h"

#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"

#include <stdlib.h>
#include <string.h>

static const char *const advice[SEEP_N_PATTERNS] = {
    [SEEP_PATTERN_EAGER_RETENTION] =
        "load each item when it is used (in __getitem__, in the loader's workers), keep paths or a "
        "compact form in memory instead of decoded data, or use a memory-mapped file",
    [SEEP_PATTERN_FIRST_TOUCH_CACHE] =
        "bound the cache or evict from it; drop the list or dict that owns the items, not only the "
        "local name",
    [SEEP_PATTERN_ALIASED_CACHE] =
        "copy the dataset's object before writing into it: a shallow copy (dict(target), "
        "copy.copy) is enough where only its top-level keys change",
    [SEEP_PATTERN_GRAPH_RETENTION] =
        "keep numbers, not tensors with their graphs: loss.item() for logs and sums, .detach() for "
        "what is used on; evaluate under torch.no_grad()",
    [SEEP_PATTERN_CARRY_OVER] =
        "del the step's batch, outputs and loss at the end of the loop's body: the peak falls by "
        "what is said here, no more",
    [SEEP_PATTERN_ALLOCATOR_CACHE] =
        "let sizes repeat: pad or bucket them, or reuse one buffer; on the host limit the arenas "
        "(MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_, or preload jemalloc), on a GPU set "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True or call empty_cache() now and then",
    [SEEP_PATTERN_SIZE_SPIKE] =
        "do not pad to the largest: offsets and indices (CSR) take what the data takes; or cap the "
        "size, or split the batch, or reuse one buffer",
    [SEEP_PATTERN_WORKER_MULTIPLICATION] =
        "fewer workers or a lower prefetch_factor; or share it: make read-only arrays before the "
        "workers are forked, or open them with mmap in each",
    [SEEP_PATTERN_COW_GROWTH] =
        "keep the dataset's index in a few flat arrays (NumPy, PyArrow, one bytes object with "
        "offsets) instead of many Python objects: their pages stay shared",
    [SEEP_PATTERN_PINNED_POOL] =
        "lower prefetch_factor, and let batches have few different sizes: pinned memory is rounded "
        "up to powers of two and kept",
    [SEEP_PATTERN_SHM_GROWTH] = "keep no tensors that came from workers beyond their step: clone() "
                                "what must stay; see also "
                                "torch.multiprocessing.set_sharing_strategy()",
    [SEEP_PATTERN_COLLECTIVE_BUFFER] =
        "reduce in buckets (bucket_size_mb of 25 instead of -1), or let DDP do it with "
        "gradient_as_bucket_view=True",
    [SEEP_PATTERN_WRONG_DEVICE] =
        "call torch.cuda.set_device(local_rank) before anything touches CUDA, and load checkpoints "
        "with map_location",
    [SEEP_PATTERN_REFERENCE_CYCLE] =
        "break the cycle (weakref, save_for_backward instead of attributes of ctx, no exception or "
        "frame kept); a lower gc threshold only makes the teeth smaller. If this is a buffer that "
        "is "
        "emptied on purpose, it is as large as that",
    [SEEP_PATTERN_LEGITIMATE_GROWTH] =
        "nothing to mend: what is replaced grows, as in densification; plan for its last size",
    [SEEP_PATTERN_UNBOUNDED_GROWTH] =
        "find who keeps what this line makes: a list or dict that is only appended to, a tensor "
        "kept with its graph (use .item() or .detach()), a closure or a callback",
    [SEEP_PATTERN_UNDETERMINED] =
        "run on past one full epoch (or for longer): a plateau then tells a cache that fills "
        "from growth without an end",
};

static const char *function_name(const struct seep_model *m,
                                 const struct seep_function_kinds *kinds,
                                 const struct seep_symbols *symbols, uint32_t frame)
{
    const struct seep_dict_frame *f = &m->dict.frames[frame];
    const struct seep_symbol *symbol = seep_function_kinds_symbol(kinds, symbols, frame);

    if (f->kind == SEEP_FRAME_PYTHON) {
        const char *name = seep_dictionary_text(&m->dict, f->function);
        return *name ? name : "this line";
    }
    return symbol && symbol->function ? symbol->function : "this code";
}

static bool any_runs(const struct seep_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].exit_kind == SEEP_ENDED_RUNNING)
            return true;
    }
    return false;
}

void seep_wording_set(const struct seep_model *m, const struct seep_function_kinds *kinds,
                      const struct seep_symbols *symbols, struct seep_finding *f)
{
    const char *who = function_name(m, kinds, symbols, f->frame);
    const char *unit = m->step_source == SEEP_STEP_TIME ? "time slice" : "step";
    char size[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT], saving[SEEP_SIZE_TEXT];

    seep_text_size((double)f->live_bytes, size);
    seep_text_size(f->growth.value, each);
    seep_text_size((double)f->saving_bytes, saving);
    switch (f->pattern) {
    case SEEP_PATTERN_EAGER_RETENTION:
        f->title = seep_text_format("%s: %llu item%s loaded before step 1 and kept %s: %s", who,
                                    (unsigned long long)f->count, f->count == 1 ? "" : "s",
                                    any_runs(m) ? "so far" : "to the end", size);
        break;
    case SEEP_PATTERN_FIRST_TOUCH_CACHE:
        f->title =
            f->plateau_step
                ? seep_text_format("%s: keeps every item it has seen once: %s from step %d on", who,
                                   size, (int)f->plateau_step)
                : seep_text_format("%s: keeps every item it has seen once: %s by now", who, size);
        break;
    case SEEP_PATTERN_ALIASED_CACHE:
        f->title = seep_text_format("%s: writes into the dataset's own objects, which then keep %s",
                                    who, size);
        break;
    case SEEP_PATTERN_GRAPH_RETENTION:
        f->title = seep_text_format("%s: keeps the autograd graph of every step: %s each%s", who,
                                    each, f->returns ? ", until the epoch ends" : "");
        break;
    case SEEP_PATTERN_CARRY_OVER:
        f->title = seep_text_format("%s: what a step made lives on into the next one: %s twice",
                                    who, saving);
        break;
    case SEEP_PATTERN_ALLOCATOR_CACHE:
        f->title =
            seep_text_format("%s: live memory is flat, but the allocator takes %s more every "
                             "%s",
                             who, each, unit);
        break;
    case SEEP_PATTERN_SIZE_SPIKE:
        f->title =
            seep_text_format("%s: one request is %s above what it usually asks for", who, saving);
        break;
    case SEEP_PATTERN_WORKER_MULTIPLICATION:
        f->title =
            seep_text_format("%s: every loader worker holds it for itself: %s together", who, size);
        break;
    case SEEP_PATTERN_COW_GROWTH:
        f->title = seep_text_format("%s: forked workers copy the pages of these objects: %s by now",
                                    who, saving);
        break;
    case SEEP_PATTERN_PINNED_POOL:
        f->title = seep_text_format("%s: pinned memory is never given back: %s", who, size);
        break;
    case SEEP_PATTERN_SHM_GROWTH:
        f->title =
            seep_text_format("%s: keeps shared memory of every %s: %s each", who, unit, each);
        break;
    case SEEP_PATTERN_COLLECTIVE_BUFFER:
        f->title = seep_text_format("%s: copies all gradients into one buffer of %s every step",
                                    who, saving);
        break;
    case SEEP_PATTERN_WRONG_DEVICE:
        f->title = seep_text_format("%s: a rank holds %s on another rank's device", who, size);
        break;
    case SEEP_PATTERN_REFERENCE_CYCLE:
        f->title = seep_text_format("%s: is freed only in bursts, %s at a time", who, saving);
        break;
    case SEEP_PATTERN_LEGITIMATE_GROWTH:
        f->title = seep_text_format("%s: is replaced by something larger now and then: %s by now",
                                    who, size);
        break;
    case SEEP_PATTERN_UNBOUNDED_GROWTH:
        f->title =
            seep_text_format("%s: grows by %s every %s, without an end in sight", who, each, unit);
        break;
    default:
        f->title = seep_text_format("%s: grows by %s every %s so far", who, each, unit);
        break;
    }
    f->advice = strdup(advice[f->pattern]);
}
