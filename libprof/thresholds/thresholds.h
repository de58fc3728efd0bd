/* The numbers that verdicts depend on, by name: thresholds.def. */
#ifndef SEEP_LIBPROF_THRESHOLDS_THRESHOLDS_H
#define SEEP_LIBPROF_THRESHOLDS_THRESHOLDS_H

#ifdef SEEP_MOVED_THRESHOLDS
/* Variables, so that tests/mutate can change them one at a time and see which tests fail. */
#define SEEP_COUNT(name, value, unit, why, held_by) extern int SEEP_T_##name;
#define SEEP_RATIO(name, value, unit, why, held_by) extern double SEEP_T_##name;
#include "libprof/thresholds/thresholds.def"
#undef SEEP_COUNT
#undef SEEP_RATIO
#else
enum {
#define SEEP_COUNT(name, value, unit, why, held_by) SEEP_T_##name = (value),
#define SEEP_RATIO(name, value, unit, why, held_by)
#include "libprof/thresholds/thresholds.def"
#undef SEEP_COUNT
#undef SEEP_RATIO
};

#define SEEP_COUNT(name, value, unit, why, held_by)
#define SEEP_RATIO(name, value, unit, why, held_by) static const double SEEP_T_##name = (value);
#include "libprof/thresholds/thresholds.def"
#undef SEEP_COUNT
#undef SEEP_RATIO

#endif

#endif
