#include "libprof/foreign/foreign_file.h"

#include "libprof/pprof/pprof_profile.h"
#include "libprof/torch/torch_profile.h"

bool seep_foreign_is_at(const char *path)
{
    return seep_torch_is_at(path) || seep_pprof_is_at(path);
}

int seep_foreign_read(const char *path, uint32_t number, struct seep_made_profile *profile,
                      struct seep_error *err)
{
    return seep_torch_is_at(path) ? seep_torch_profile_read(path, number, profile, err)
                                  : seep_pprof_profile_read(path, number, profile, err);
}
