/* Whether tests of kernels run on a GPU, too. */
#ifndef SEEP_TESTS_CUDA_DEVICE_H
#define SEEP_TESTS_CUDA_DEVICE_H

#include "kernels/compute/stream.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* True where CUDA device 0 works, and where SEEP_CUDA=1 says that it must: then tests fail without
 * it. Asked in a child, for CUDA does not outlive a fork, and each test is one. */
static inline bool has_cuda(void)
{
    static int known; /* −1 no, 1 yes */
    const char *must = getenv("SEEP_CUDA");
    int status = 1;

    if (known)
        return known > 0;
    if (must && *must == '1') {
        known = 1;
        return true;
    }
    pid_t pid = fork();
    if (pid == 0) {
        struct seep_stream *stream;
        _exit(seep_stream_create_cuda(0, &stream, NULL) != 0);
    }
    known = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 1 : -1;
    return known > 0;
}

#endif
