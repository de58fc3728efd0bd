/* Any bytes as rules on roles (`--roles FILE`): read, and asked about frames. */
#include "libprof/roles.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct seep_role_frame frames[] = {
        {"/home/user/project/scene/cameras.py", "loadCam", "loadCam", true},
        {"/usr/lib/python3/dist-packages/torch/optim/sgd.py", "step", "SGD.step", false},
        {"", "", "", true},
    };
    struct seep_roles *roles = NULL;
    struct seep_error err = {0};
    bool whole_class;

    int rc = seep_roles_load(&roles, memory_file(data, size), &err);
    if (rc && !err.text[0])
        abort(); /* a refusal says why */
    for (size_t i = 0; !rc && i < sizeof frames / sizeof frames[0]; i++) {
        uint64_t rules = seep_roles_of_caller(roles, frames[1].file);
        (void)seep_roles_of_frame(roles, &frames[i]);
        (void)seep_roles_of_callee(roles, rules, &frames[i], &whole_class);
    }
    if (!rc)
        seep_roles_free(roles);
    return 0;
}
