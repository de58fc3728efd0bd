/* Words about memory that is freed again, yet decides how much the job needs. Formats of printf();
 * callers fill in numbers and names. */
#ifndef SEEP_LIBPROF_WORDS_FINDINGS_PEAK_WORDS_H
#define SEEP_LIBPROF_WORDS_FINDINGS_PEAK_WORDS_H

#define SEEP_COLLECTIVE_BLOCK_TEXT                                                                 \
    "One block of %s is allocated %.1f times a step and freed within the step"
#define SEEP_COLLECTIVE_SHARE_TEXT "While it is alive it is %.0f %% of the peak of %s"
#define SEEP_SPIKE_LARGEST_TEXT    "The largest request is %s; half of all requests are below %s"
#define SEEP_SPIKE_SHARE_TEXT                                                                      \
    "%.1f %% of the requests are about as large; the largest is %.0f %% of the peak of %s"

/* Memory of the previous step. */
#define SEEP_CARRIED_TWICE_TEXT                                                                    \
    "A step's blocks are freed during the next step, so %s of them exists twice"
#define SEEP_CARRIED_PEAK_TEXT "Nothing grows; the peak of %s could be %s (%.0f %%) lower"

#define SEEP_CARRIED_ADVICE_TEXT                                                                   \
    "del the step's batch, outputs and loss at the end of the loop body. This lowers the peak by " \
    "%s; nothing is leaking."

/* Memory collected on a GPU between steps. */
#define SEEP_GATHERED_EVALUATION_TITLE_TEXT "Evaluation collects %s on GPU %d%s"
#define SEEP_GATHERED_GRAPH_TEXT            ", with the autograd graph of each batch"
#define SEEP_GATHERED_TITLE_TEXT            "%s is collected on GPU %d between steps"
#define SEEP_GATHERED_ROLLOUT_ADVICE_TEXT                                                          \
    "If the next steps learn from it, ignore this. If it is an evaluation, move what you keep of " \
    "each batch to the CPU (.cpu())."
#define SEEP_GATHERED_GRAPH_ADVICE_TEXT                                                            \
    "Evaluate under torch.no_grad(). Move what you keep of each batch to the CPU (.cpu()), or "    \
    "compute the metric batch by batch."
#define SEEP_GATHERED_ADVICE_TEXT                                                                  \
    "Move what you keep of each batch to the CPU (.cpu()), or compute the metric batch by batch."
#define SEEP_GATHERED_BLOCKS_TEXT "%llu blocks are alive at once: %.0f %% of the peak of %s"
#define SEEP_GATHERED_FREED_TEXT                                                                   \
    "They are freed before the next step ends: this raises the peak but does not grow from step "  \
    "to step"

/* Pages that forked workers copy. */
#define SEEP_COPIED_PAGES_TEXT                                                                     \
    "%u forked processes came to own %s of pages each (%s in all) that they did not allocate; "    \
    "their own blocks never exceeded %s"
#define SEEP_COPIED_WRITTEN_TEXT                                                                   \
    "%u forked processes wrote to %s each (%s in all) of large blocks that they had inherited, "   \
    "and so copied it; this line had made most of that"
#define SEEP_COPIED_WRITTEN_ADVICE_TEXT                                                            \
    "Copy what is changed (row = self.rows[i].copy()) and let the copy go; or change all of it "   \
    "once, before the processes start; or keep it in shared memory (tensor.share_memory_()), if "  \
    "all may see the changes."
#define SEEP_COPIED_WHY_TEXT                                                                       \
    "Reading a Python object writes its reference count, and that copies its page; this line "     \
    "made most of the objects before the fork"

#endif
