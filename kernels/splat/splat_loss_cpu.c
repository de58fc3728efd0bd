/* Losses in blocks of fixed size, added in their order. */
#include "kernels/splat/splat_loss.h"
#include "kernels/splat/splat_twins.h"

#include <math.h>
#include <stdatomic.h>

enum { BLOCK = 4096 };

struct block_sums {
    double l1, squares;
};

struct loss {
    const float *image, *target;
    size_t n, n_blocks;
    float *grad;
    struct block_sums *sums; /* [n_blocks] */
    atomic_size_t next;
};

static void loss_work(void *arg, unsigned thread, unsigned n_threads)
{
    struct loss *s = arg;
    const float share = 1 / (float)s->n;
    size_t block;

    (void)thread, (void)n_threads;
    while ((block = atomic_fetch_add(&s->next, 1)) < s->n_blocks) {
        struct block_sums sum = {0, 0};
        size_t end = block + 1 < s->n_blocks ? (block + 1) * BLOCK : s->n;
        for (size_t i = block * BLOCK; i < end; i++) {
            float d = s->image[i] - s->target[i];
            sum.l1 += (double)fabsf(d);
            sum.squares += (double)d * (double)d;
            if (s->grad)
                s->grad[i] = d > 0 ? share : d < 0 ? -share : 0;
        }
        s->sums[block] = sum;
    }
}

int seep_splat_loss_cpu(const float *image, const float *target, size_t n_values, float *image_grad,
                        struct seep_splat_loss *out, void *scratch, size_t *scratch_bytes,
                        struct seep_stream *stream)
{
    struct loss s = {
        .image = image, .target = target, .n = n_values, .grad = image_grad, .sums = scratch};

    s.n_blocks = n_values / BLOCK + (n_values % BLOCK != 0);
    size_t needed = (s.n_blocks ? s.n_blocks : 1) * sizeof *s.sums;
    if (!scratch) {
        *scratch_bytes = needed;
        return 0;
    }
    if (*scratch_bytes < needed)
        return -SEEP_EINVAL;
    *out = (struct seep_splat_loss){0, 0, INFINITY};
    seep_stream_run(stream, loss_work, &s);
    for (size_t i = 0; i < s.n_blocks; i++) {
        out->l1 += s.sums[i].l1 / (double)n_values;
        out->mse += s.sums[i].squares / (double)n_values;
    }
    if (out->mse != 0)
        out->psnr_db = -10 * log10(out->mse);
    return 0;
}
