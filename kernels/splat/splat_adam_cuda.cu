/* Adam on the GPU: a thread a value. */
#include "kernels/splat/splat_cuda.cuh"

#include <cmath>

/* As floats in the moments and in what unbiases them: 1 − 0.999f is not 0.001. */
constexpr float beta1 = 0.9f, beta2 = 0.999f;

/* What a value stands for, beside itself. */
enum meaning { AS_IT_IS, LOGARITHM, LOGIT };

/* One array of parameters, [n]. */
struct adam_array {
    float *values, *first, *second;
    const float *grads;
    float *meant; /* exp(value) or the sigmoid: out; before the step, what grads are by */
    size_t n;
    enum meaning meaning;
    float rate, rate_first; /* the latter for the first 3 of each `record` */
    unsigned record;
};

struct adam_step {
    float unbias_first, unbias_second; /* 1 / (1 − beta^step); 0: no step */
};

__device__ static float step_value(const struct adam_array &array, size_t i,
                                   const struct adam_step &step)
{
    const float epsilon = 1e-15f;
    float grad = array.grads[i];

    if (array.meaning == LOGARITHM)
        grad *= array.meant[i];
    else if (array.meaning == LOGIT)
        grad *= array.meant[i] * (1 - array.meant[i]);
    float first = beta1 * array.first[i] + (1 - beta1) * grad;
    float second = beta2 * array.second[i] + (1 - beta2) * grad * grad;
    /* i % record, without a division of 64 bits */
    unsigned within =
        (blockIdx.x % array.record * (SEEP_BLOCK % array.record) + threadIdx.x) % array.record;
    float rate = within < 3 ? array.rate_first : array.rate;
    array.first[i] = first;
    array.second[i] = second;
    return array.values[i] -
           rate * (first * step.unbias_first) / (sqrtf(second * step.unbias_second) + epsilon);
}

__global__ static void __launch_bounds__(SEEP_BLOCK)
    adam(const struct adam_array array, const struct adam_step step)
{
    size_t i = (size_t)blockIdx.x * SEEP_BLOCK + threadIdx.x;

    if (i >= array.n)
        return;
    if (step.unbias_first > 0)
        array.values[i] = step_value(array, i, step);
    else
        array.first[i] = array.second[i] = 0;
    if (array.meaning == LOGARITHM)
        array.meant[i] = expf(array.values[i]);
    else if (array.meaning == LOGIT)
        array.meant[i] = 1 / (1 + expf(-array.values[i]));
}

int seep_splat_adam_cuda(size_t n, int sh_stride, const struct seep_splat_gradients *gradients,
                         const struct seep_splat_rates *rates, unsigned step,
                         struct seep_splat_trained *trained, struct seep_stream *stream)
{
    static const struct seep_splat_gradients no_gradients = {};
    static const struct seep_splat_rates no_rates = {};
    const struct seep_splat_gradients *g = step ? gradients : &no_gradients;
    const struct seep_splat_rates *r = step ? rates : &no_rates;
    const struct seep_splat_parameters *p = &trained->parameters, *m = &trained->first,
                                       *v = &trained->second;
    unsigned sh_record = (unsigned)sh_stride * 3;
    struct adam_array arrays[] = {
        {*p->means, *m->means, *v->means, *g->means, nullptr, 3 * n, AS_IT_IS, r->means, r->means,
         3},
        {*p->log_scales, *m->log_scales, *v->log_scales, *g->scales, *trained->scales, 3 * n,
         LOGARITHM, r->log_scales, r->log_scales, 3},
        {*p->rotations, *m->rotations, *v->rotations, *g->rotations, nullptr, 4 * n, AS_IT_IS,
         r->rotations, r->rotations, 4},
        {p->logits, m->logits, v->logits, g->opacities, trained->opacities, n, LOGIT, r->logits,
         r->logits, 1},
        {p->sh, m->sh, v->sh, g->sh, nullptr, n * sh_record, AS_IT_IS, r->sh_rest, r->sh_first,
         sh_record},
    };
    struct adam_step scales = {0, 0};
    cudaError_t error = cudaSuccess;

    if (step) {
        scales.unbias_first = (float)(1 / (1 - std::pow((double)beta1, (double)step)));
        scales.unbias_second = (float)(1 / (1 - std::pow((double)beta2, (double)step)));
    }
    for (const struct adam_array &array : arrays)
        if (error == cudaSuccess)
            error = seep_launch(adam, array.n, seep_cuda_of(stream), array, scales);
    return seep_cuda_status(error);
}
