#include "kernels/splat/splat_adam.h"
#include "kernels/splat/splat_twins.h"

#include <math.h>
#include <string.h>

struct adam {
    size_t n;
    int sh_stride;
    const struct seep_splat_gradients *gradients;
    const struct seep_splat_rates *rates;
    struct seep_splat_trained *trained;
    unsigned step;
    const uint32_t *offsets;         /* NULL: all are stepped */
    float first_share, second_share; /* 1 / (1 − beta^step) */
};

static const float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-15f;

/* One number's step. */
static inline void advance(const struct adam *a, float rate, float gradient, float *value,
                           float *first, float *second)
{
    *first += (1 - beta1) * (gradient - *first);
    *second += (1 - beta2) * (gradient * gradient - *second);
    *value -= rate * *first * a->first_share / (sqrtf(*second * a->second_share) + epsilon);
}

static void advance_all(const struct adam *a, size_t i)
{
    const struct seep_splat_gradients *g = a->gradients;
    const struct seep_splat_rates *r = a->rates;
    struct seep_splat_trained *t = a->trained;
    struct seep_splat_parameters *p = &t->parameters, *m = &t->first, *v = &t->second;
    size_t sh = (size_t)a->sh_stride * 3;
    float o = t->opacities[i];

    for (int k = 0; k < 3; k++) {
        advance(a, r->means, g->means[i][k], &p->means[i][k], &m->means[i][k], &v->means[i][k]);
        advance(a, r->log_scales, g->scales[i][k] * t->scales[i][k], &p->log_scales[i][k],
                &m->log_scales[i][k], &v->log_scales[i][k]);
    }
    for (int k = 0; k < 4; k++)
        advance(a, r->rotations, g->rotations[i][k], &p->rotations[i][k], &m->rotations[i][k],
                &v->rotations[i][k]);
    advance(a, r->logits, g->opacities[i] * o * (1 - o), &p->logits[i], &m->logits[i],
            &v->logits[i]);
    for (size_t k = i * sh; k < (i + 1) * sh; k++)
        advance(a, k < i * sh + 3 ? r->sh_first : r->sh_rest, g->sh[k], &p->sh[k], &m->sh[k],
                &v->sh[k]);
}

static void forget(const struct adam *a, const struct seep_splat_parameters *p, size_t i)
{
    size_t sh = (size_t)a->sh_stride * 3;

    memset(p->means[i], 0, sizeof p->means[i]);
    memset(p->log_scales[i], 0, sizeof p->log_scales[i]);
    memset(p->rotations[i], 0, sizeof p->rotations[i]);
    p->logits[i] = 0;
    memset(p->sh + i * sh, 0, sh * sizeof *p->sh);
}

static void adam_work(void *arg, unsigned thread, unsigned n_threads)
{
    const struct adam *a = arg;
    struct seep_splat_trained *t = a->trained;
    size_t end = a->n * (thread + 1) / n_threads;

    for (size_t i = a->n * thread / n_threads; i < end; i++) {
        if (a->step && a->offsets && a->offsets[i] == a->offsets[i + 1])
            continue;
        if (a->step) {
            advance_all(a, i);
        } else {
            forget(a, &t->first, i);
            forget(a, &t->second, i);
        }
        for (int k = 0; k < 3; k++)
            t->scales[i][k] = expf(t->parameters.log_scales[i][k]);
        t->opacities[i] = 1 / (1 + expf(-t->parameters.logits[i]));
    }
}

int seep_splat_adam_cpu(size_t n, int sh_stride, const struct seep_splat_gradients *gradients,
                        const struct seep_splat_rates *rates, unsigned step,
                        const uint32_t *offsets, struct seep_splat_trained *trained,
                        struct seep_stream *stream)
{
    struct adam a = {.n = n,
                     .sh_stride = sh_stride,
                     .gradients = gradients,
                     .rates = rates,
                     .trained = trained,
                     .step = step,
                     .offsets = offsets};

    if (step) {
        a.first_share = (float)(1 / (1 - pow((double)beta1, step)));
        a.second_share = (float)(1 / (1 - pow((double)beta2, step)));
    }
    seep_stream_run(stream, adam_work, &a);
    return 0;
}
