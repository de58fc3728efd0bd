#include "libprof/os.h"

bool seep_os_sandboxed;
