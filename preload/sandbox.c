#include "preload/sandbox.h"

void seep_sandbox_before(bool strict)
{
    (void)strict;
}
