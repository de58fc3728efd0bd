/* The calling thread's current CUDA device, borrowed. */
#ifndef SEEP_KERNELS_CUDA_DEVICE_CUH
#define SEEP_KERNELS_CUDA_DEVICE_CUH

#include <cuda_runtime.h>

/* A device is the calling thread's current one for as long as this lives; then it is again the one
 * that the caller has chosen. */
class seep_on_device
{
  public:
    explicit seep_on_device(int device)
    {
        int now = device;

        status = cudaGetDevice(&now);
        if (status == cudaSuccess && now != device)
            status = cudaSetDevice(device);
        before = status == cudaSuccess ? now : device;
        chosen = device;
    }
    ~seep_on_device()
    {
        if (before != chosen)
            (void)cudaSetDevice(before);
    }
    seep_on_device(const seep_on_device &) = delete;
    seep_on_device &operator=(const seep_on_device &) = delete;

    cudaError_t status;

  private:
    int before, chosen;
};

#endif
