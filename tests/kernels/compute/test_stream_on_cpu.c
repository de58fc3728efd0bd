/* Kernels inside a program that uses CUDA itself: its current device and its streams stay its own.
 * On the stand-in, which has two devices. */
#include "kernels/compute/stream.h"
#include "kernels/splat/splat_adam.h"
#include "kernels/splat/splat_loss.h"
#include "kernels/voxels/voxelize.h"
#include "tests/cuda_on_cpu/caller.h"
#include "tests/suite.h"

#include <check.h>
#include <string.h>

static int current_device(void)
{
    int device = -1;

    ck_assert_int_eq(cudaGetDevice(&device), 0);
    return device;
}

/* All that can be done with a stream, and a kernel of each kind of twin; `mine` is current
 * throughout. */
static void use(struct seep_stream *s, int mine)
{
    enum { POINTS = 100 };
    float values[3 * POINTS] = {0}, *there;
    int32_t(*coords)[4];
    struct seep_splat_loss loss;
    void *scratch;
    size_t bytes = 0, n_refused;

    ck_assert_int_eq(seep_stream_alloc(s, sizeof values, (void **)&there), 0);
    ck_assert_int_eq(current_device(), mine);
    ck_assert_int_eq(seep_stream_alloc(s, POINTS * sizeof *coords, (void **)&coords), 0);
    ck_assert_int_eq(seep_stream_upload(s, there, values, sizeof values), 0);
    ck_assert_int_eq(current_device(), mine);
    ck_assert_int_eq(
        seep_quantize((const float(*)[3])there, NULL, POINTS, 1, coords, &n_refused, s), 0);
    ck_assert_int_eq(current_device(), mine);
    ck_assert_ptr_eq(cuda_on_cpu_last_stream(), seep_stream_cuda(s));
    ck_assert_int_eq(seep_splat_loss(there, there, 3 * POINTS, NULL, &loss, NULL, &bytes, s), 0);
    ck_assert_int_eq(seep_stream_alloc(s, bytes, &scratch), 0);
    ck_assert_int_eq(seep_splat_loss(there, there, 3 * POINTS, NULL, &loss, scratch, &bytes, s), 0);
    ck_assert(loss.l1 == 0);
    ck_assert_int_eq(current_device(), mine);
    ck_assert_int_eq(seep_stream_wait(s), 0);
    ck_assert_int_eq(seep_stream_download(s, values, there, sizeof values), 0);
    ck_assert_int_eq(current_device(), mine);
    seep_stream_free(s, scratch);
    seep_stream_free(s, coords);
    seep_stream_free(s, there);
    ck_assert_int_eq(current_device(), mine);
}

/* The caller's device, and the stream's. */
static const int devices[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};

TEST(a_callers_current_device_is_the_same_after_every_call, .to = N(devices))
{
    int mine = devices[_i][0], its = devices[_i][1];
    struct seep_stream *s;

    ck_assert_int_eq(cudaSetDevice(mine), 0);
    ck_assert_int_eq(seep_stream_create_cuda(its, &s, NULL), 0);
    ck_assert_int_eq(current_device(), mine);
    ck_assert_int_eq(seep_stream_cuda_device(s), its);
    use(s, mine);
    seep_stream_destroy(s);
    ck_assert_int_eq(current_device(), mine);
}

TEST(kernels_run_on_a_callers_own_stream_and_leave_it_to_him, .to = N(devices))
{
    int mine = devices[_i][0], its = devices[_i][1];
    void *own;
    struct seep_stream *s;

    ck_assert_int_eq(cudaSetDevice(its), 0);
    ck_assert_int_eq(cudaStreamCreateWithFlags(&own, 0), 0);
    ck_assert_int_eq(cudaSetDevice(mine), 0);
    ck_assert_int_eq(seep_stream_of_cuda(its, own, &s, NULL), 0);
    ck_assert_ptr_eq(seep_stream_cuda(s), own);
    use(s, mine);
    seep_stream_destroy(s);
    ck_assert_int_eq(current_device(), mine);
    ck_assert_int_eq(cudaStreamDestroy(own), 0);
}

TEST(the_default_stream_is_a_callers_stream_like_others)
{
    struct seep_stream *s;

    ck_assert_int_eq(seep_stream_of_cuda(1, NULL, &s, NULL), 0);
    ck_assert_int_eq((int)seep_stream_device(s), SEEP_DEVICE_CUDA);
    use(s, 0);
    seep_stream_destroy(s);
}

TEST(a_device_that_is_not_there_is_refused_and_the_current_one_stays)
{
    struct seep_stream *s = NULL;
    struct seep_error err = {0};

    ck_assert_int_eq(cudaSetDevice(1), 0);
    ck_assert_int_eq(seep_stream_of_cuda(2, NULL, &s, &err), -SEEP_EDEVICE);
    ck_assert_ptr_nonnull(strstr(err.text, "invalid device"));
    ck_assert_int_eq(seep_stream_create_cuda(-1, &s, &err), -SEEP_EDEVICE);
    ck_assert_ptr_null(s);
    ck_assert_int_eq(current_device(), 1);
    ck_assert_int_eq(cudaGetLastError(), 0);
}

SUITE("stream on cpu")
