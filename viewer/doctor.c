#include "viewer/viewer.h"

int seep_doctor_main(int argc, char **argv)
{
    (void)argc, (void)argv;
    seep_complain("doctor is not built yet: wait for it");
    return SEEP_EXIT_UNUSABLE;
}
