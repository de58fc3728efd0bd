#include "libprof/roles.h"

#include <ctype.h>
#include <string.h>

/* `file`: part of the path; `function`: whole name, or a part of it (any case) when it begins with
 * '*'. NULL matches all. `own`: 1 only the user's code, 0 only libraries. */
struct rule {
    const char *file;
    const char *function;
    int own;
    enum seep_role role;
};

static const struct rule rules[] = {
    {"/torch/utils/data/", NULL, 0, SEEP_SITE_LOADER},
    {"/torch/utils/tensorboard/", NULL, 0, SEEP_SITE_LOGGING},
    {"/tensorboardX/", NULL, 0, SEEP_SITE_LOGGING},
    {"/wandb/", NULL, 0, SEEP_SITE_LOGGING},
    {"/logging/", NULL, 0, SEEP_SITE_LOGGING},
    {"/torch/serialization.py", NULL, 0, SEEP_SITE_CHECKPOINT},
    {"/safetensors/", NULL, 0, SEEP_SITE_CHECKPOINT},
    {"/torch/optim/", NULL, 0, SEEP_SITE_OPTIMIZER},
    {"/torch/distributed/", NULL, 0, SEEP_SITE_COLLECTIVE},
    {"/torch/nn/parallel/distributed.py", NULL, 0, SEEP_SITE_COLLECTIVE},
    {"/torch/autograd/", NULL, 0, SEEP_SITE_BACKWARD},
    {"/torch/_tensor.py", "backward", 0, SEEP_SITE_BACKWARD},
    {"/torch/nn/", NULL, 0, SEEP_SITE_MODEL},
    {"/transformers/", NULL, 0, SEEP_SITE_MODEL},
    {"/diffusers/", NULL, 0, SEEP_SITE_MODEL},
    {"/timm/", NULL, 0, SEEP_SITE_MODEL},
    {"/torchvision/models/", NULL, 0, SEEP_SITE_MODEL},
    {"/torchvision/datasets/", NULL, 0, SEEP_SITE_DATASET},
    {NULL, "*collate", 1, SEEP_SITE_LOADER},
    {NULL, "*camera", 1, SEEP_SITE_CAMERA},
    {NULL, "*dataset", 1, SEEP_SITE_DATASET},
    {NULL, "__getitem__", 1, SEEP_SITE_DATASET},
    {NULL, "*dataloader", 1, SEEP_SITE_LOADER},
    {NULL, "*sampler", 1, SEEP_SITE_LOADER},
    {NULL, "backward", 1, SEEP_SITE_BACKWARD},
    {NULL, "forward", 1, SEEP_SITE_MODEL},
    {NULL, "*checkpoint", 1, SEEP_SITE_CHECKPOINT},
    {NULL, "state_dict", 1, SEEP_SITE_CHECKPOINT},
    {"camera", NULL, 1, SEEP_SITE_CAMERA},
    {"dataset", NULL, 1, SEEP_SITE_DATASET},
};

static const char *const names[SEEP_SITE_N_ROLES] = {
    "other",     "dataset", "loader",     "camera",     "model",   "backward",
    "optimizer", "logging", "checkpoint", "collective", "library",
};

const char *seep_role_name(enum seep_role role)
{
    return names[role];
}

/* strstr() that takes capital letters of `text` for small ones. */
static bool holds(const char *text, const char *part)
{
    for (; *text; text++) {
        size_t i = 0;
        while (part[i] && tolower((unsigned char)text[i]) == part[i])
            i++;
        if (!part[i])
            return true;
    }
    return false;
}

static bool matches(const struct rule *rule, const char *file, const char *base,
                    const char *function, const char *qualname, bool own)
{
    if (rule->own != own)
        return false;
    /* A user's folder may be called anything: only the file's own name speaks, and not for the
     * program's main line, which does everything. */
    if (rule->file && own && (strcmp(function, "<module>") == 0 || strcmp(function, "main") == 0))
        return false;
    if (rule->file && !(own ? holds(base, rule->file) : strstr(file, rule->file) != NULL))
        return false;
    if (!rule->function)
        return true;
    if (rule->function[0] == '*')
        return holds(function, rule->function + 1) || holds(qualname, rule->function + 1);
    return strcmp(function, rule->function) == 0;
}

enum seep_role seep_roles_of_frame(const struct seep_dictionary *d, const struct seep_dict_frame *f,
                                   bool own)
{
    if (f->kind != SEEP_FRAME_PYTHON)
        return SEEP_SITE_OTHER;
    const char *file = seep_dictionary_text(d, f->owner);
    const char *slash = strrchr(file, '/');
    const char *function = seep_dictionary_text(d, f->function);
    const char *qualname = seep_dictionary_text(d, f->qualname);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (matches(&rules[i], file, slash ? slash + 1 : file, function, qualname, own))
            return rules[i].role;
    }
    return SEEP_SITE_OTHER;
}
