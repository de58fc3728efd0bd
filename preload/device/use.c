#include "preload/device/use.h"

#include <errno.h>

#include "libprof/contract.h"
#include "preload/job/job.h"
#include "preload/record/upcalls.h"

bool seep_device_is_used, seep_device_is_left;

void seep_device_first_use(void)
{
    SEEP_CHECK(seep_is_inside());
    const int saved_errno = errno;
    seep_device_is_used = true;
    seep_job_device();
    seep_upcalls.resolve_allocator();
    errno = saved_errno;
}

void seep_device_after_fork(void)
{
    seep_device_is_left = seep_device_is_left || seep_device_is_used;
}
