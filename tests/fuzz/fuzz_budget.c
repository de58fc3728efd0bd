/* Any bytes as a budget of `seep check`, TOML or JSON: reads it and asks it about a finding. */
#include "libprof/gate/budget.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_budget budget = {0};
    struct seep_error err = {0};

    int rc = seep_budget_read(&budget, memory_file(data, size), &err);
    if (rc && !err.text[0])
        abort(); /* a refusal says why */
    if (!rc)
        (void)seep_budget_ignored(&budget, "first-touch-cache", "/home/user/data/index.py",
                                  "__getitem__", "Index.__getitem__");
    seep_budget_fini(&budget);
    return 0;
}
