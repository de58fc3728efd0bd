/* Any bytes as rules on roles (`--roles FILE`): reads them and asks them about frames. And as the
 * name of a function in a program's symbols. */
#include "libprof/code/function_kinds.h"
#include "tests/fuzz/memory_file.h"

#include <string.h>

/* What rules see of a name is part of it, the function the end of its qualified name. */
static void read_name(const uint8_t *data, size_t size, struct seep_native_name *name)
{
    char *text = malloc(size + 1);
    struct seep_symbol symbol = {.function = text};

    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    seep_native_name_set(name, &symbol);
    size_t n = strlen(name->qualname), n_function = strlen(name->function);
    if (n_function > n || strcmp(name->qualname + n - n_function, name->function) != 0 ||
        !strstr(text, name->qualname))
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_native_name name;

    read_name(data, size, &name);
    const struct seep_rule_frame frames[] = {
        {"/home/user/project/scene/cameras.py", "loadCam", "loadCam", true},
        {"/usr/lib/python3/dist-packages/torch/optim/sgd.py", "step", "SGD.step", false},
        {"", "", "", true},
        {name.file, name.function, name.qualname, true},
    };
    struct seep_part_rules *roles = NULL;
    struct seep_error err = {0};
    bool whole_class;

    int rc = seep_part_rules_load(&roles, memory_file(data, size), &err);
    if (rc && !err.text[0])
        abort(); /* a refusal says why */
    for (size_t i = 0; !rc && i < sizeof frames / sizeof frames[0]; i++) {
        uint64_t rules = seep_part_rules_of_caller(roles, frames[1].file);
        (void)seep_part_of_frame(roles, &frames[i]);
        (void)seep_part_rules_kinds_of(roles, &frames[i]);
        (void)seep_part_of_callee(roles, rules, &frames[i], &whole_class);
    }
    if (!rc)
        seep_part_rules_free(roles);
    return 0;
}
