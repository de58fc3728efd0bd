/* Adam on the GPU, in one launch: a block has some Gaussians and goes over their values array by
 * array, a thread a value, so that lanes lie next to each other. Of Gaussians that nobody saw it
 * reads nothing but that. Everything is read or written once, so it is marked to leave the caches
 * first. */
#include "kernels/splat/splat_cuda.cuh"

#include <cmath>

/* As floats in the moments and in what unbiases them: 1 − 0.999f is not 0.001. */
constexpr float beta1 = 0.9f, beta2 = 0.999f;

/* Of a block: few enough that small models fill a GPU, too. A grid then has at most 2^25 blocks,
 * whatever is stored of a Gaussian. */
constexpr unsigned ADAM_GAUSSIANS = 64;

/* What a value stands for, beside itself. */
enum meaning { AS_IT_IS, LOGARITHM, LOGIT };

/* One array of parameters, `width` values a Gaussian. */
struct adam_array {
    float *values, *first, *second;
    const float *grads;
    float *meant; /* exp(value) or the sigmoid: out; before the step, what grads are by */
    unsigned width;
    enum meaning meaning;
    float rate, rate_first; /* the latter for a Gaussian's first three values */
};

enum { ADAM_ARRAYS = 5 };

struct adam_arrays {
    struct adam_array all[ADAM_ARRAYS];
};

struct adam_step {
    float unbias_first, unbias_second; /* 1 / (1 − beta^step); 0: no step */
};

/* The value after the step. */
__device__ __forceinline__ float step_value(const struct adam_array &array, size_t i, bool of_first,
                                            const struct adam_step &step)
{
    const float epsilon = 1e-15f;
    float grad = __ldcs(array.grads + i);

    if (array.meaning != AS_IT_IS) {
        float meant = __ldcs(array.meant + i);
        grad *= array.meaning == LOGARITHM ? meant : meant * (1 - meant);
    }
    float first = beta1 * __ldcs(array.first + i) + (1 - beta1) * grad;
    float second = beta2 * __ldcs(array.second + i) + (1 - beta2) * grad * grad;
    float rate = of_first ? array.rate_first : array.rate;
    __stcs(array.first + i, first);
    __stcs(array.second + i, second);
    return __ldcs(array.values + i) -
           rate * (first * step.unbias_first) / (sqrtf(second * step.unbias_second) + epsilon);
}

/* Gaussians `begin` … `begin` + n − 1 of one array. */
__device__ __forceinline__ void adam_array_of(const struct adam_array &array, size_t begin,
                                              unsigned n, const bool *seen,
                                              const struct adam_step &step)
{
    for (unsigned k = threadIdx.x; k < n * array.width; k += SEEP_BLOCK) {
        unsigned gaussian = k / array.width;
        size_t i = begin * array.width + k;
        float value;
        if (!seen[gaussian])
            continue;
        if (step.unbias_first > 0) {
            value = step_value(array, i, k - gaussian * array.width < 3, step);
            __stcs(array.values + i, value);
        } else {
            value = array.values[i];
            array.first[i] = array.second[i] = 0;
        }
        if (array.meaning != AS_IT_IS)
            __stcs(array.meant + i,
                   array.meaning == LOGARITHM ? expf(value) : 1 / (1 + expf(-value)));
    }
}

__global__ static void __launch_bounds__(SEEP_BLOCK)
    adam(const struct adam_arrays arrays, const struct adam_step step, const uint32_t *offsets,
         size_t n_all)
{
    __shared__ bool seen[ADAM_GAUSSIANS];
    size_t begin = (size_t)blockIdx.x * ADAM_GAUSSIANS;
    unsigned n = n_all - begin < ADAM_GAUSSIANS ? (unsigned)(n_all - begin) : ADAM_GAUSSIANS;
    bool mine = false;

    if (threadIdx.x < n) {
        const uint32_t *at = offsets + begin + threadIdx.x;
        seen[threadIdx.x] = mine = !offsets || __ldg(at) != __ldg(at + 1);
    }
    if (__syncthreads_count(mine) == 0)
        return;
#pragma unroll
    for (int k = 0; k < ADAM_ARRAYS; k++)
        adam_array_of(arrays.all[k], begin, n, seen, step);
}

int seep_splat_adam_cuda(size_t n, int sh_stride, const struct seep_splat_gradients *gradients,
                         const struct seep_splat_rates *rates, unsigned step,
                         const uint32_t *offsets, struct seep_splat_trained *trained,
                         struct seep_stream *stream)
{
    static const struct seep_splat_gradients no_gradients = {};
    static const struct seep_splat_rates no_rates = {};
    const struct seep_splat_gradients *g = step ? gradients : &no_gradients;
    const struct seep_splat_rates *r = step ? rates : &no_rates;
    const struct seep_splat_parameters *p = &trained->parameters, *m = &trained->first,
                                       *v = &trained->second;
    struct adam_arrays arrays = {{
        {*p->means, *m->means, *v->means, *g->means, nullptr, 3, AS_IT_IS, r->means, r->means},
        {*p->log_scales, *m->log_scales, *v->log_scales, *g->scales, *trained->scales, 3, LOGARITHM,
         r->log_scales, r->log_scales},
        {*p->rotations, *m->rotations, *v->rotations, *g->rotations, nullptr, 4, AS_IT_IS,
         r->rotations, r->rotations},
        {p->logits, m->logits, v->logits, g->opacities, trained->opacities, 1, LOGIT, r->logits,
         r->logits},
        {p->sh, m->sh, v->sh, g->sh, nullptr, (unsigned)sh_stride * 3, AS_IT_IS, r->sh_rest,
         r->sh_first},
    }};
    struct adam_step scales = {0, 0};
    const seep_cuda_turn s(stream);
    size_t blocks = (n + ADAM_GAUSSIANS - 1) / ADAM_GAUSSIANS;

    if (step) {
        scales.unbias_first = (float)(1 / (1 - std::pow((double)beta1, (double)step)));
        scales.unbias_second = (float)(1 / (1 - std::pow((double)beta2, (double)step)));
    }
    return seep_cuda_status(
        seep_launch(adam, blocks * SEEP_BLOCK, s, arrays, scales, step ? offsets : nullptr, n));
}
