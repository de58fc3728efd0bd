#include "preload/sandbox.h"

void seep_sandbox_before(void)
{
}
