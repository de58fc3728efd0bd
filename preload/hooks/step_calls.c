/* Calls that mark steps and epochs: a hook that DataLoaders call, and the functions of seep.h. */
#include <errno.h>

#include "preload/objects/modules.h"
#include "preload/objects/real.h"
#include "preload/record/capture.h"
#include "preload/record/steps.h"
#include "preload/snapshot/snapshot.h"

/* A DataLoader with persistent workers begins an epoch without an allocation, but it sends each
 * worker a message by way of a semaphore. */
SEEP_EXPORT int sem_trywait(sem_t *semaphore)
{
    int saved_errno = errno;
    if (seep_modules_torch && seep_enter()) {
        seep_note_hook(SEEP_HOOK_sem_trywait);
        seep_capture_marks(seep_tls.thread);
        seep_leave();
    }
    errno = saved_errno;
    return seep_real.sem_trywait ? seep_real.sem_trywait(semaphore) : (errno = ENOSYS, -1);
}

SEEP_EXPORT void seep_step(void)
{
    if (!seep_enter())
        return;
    seep_steps_user_step(seep_tls.thread, SEEP_STEP_API);
    seep_leave();
}

SEEP_EXPORT void seep_holders(void)
{
    if (!seep_enter())
        return;
    seep_snapshot_asked(seep_tls.thread);
    seep_leave();
}

SEEP_EXPORT void seep_epoch(void)
{
    if (!seep_enter())
        return;
    seep_steps_epoch_told();
    seep_leave();
}
