#include "libprof/record/os.h"

bool seep_os_sandboxed;
