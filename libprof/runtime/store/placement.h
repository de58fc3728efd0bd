/* Places the recorder's data and functions in its library. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_PLACEMENT_H
#define SEEP_LIBPROF_RUNTIME_STORE_PLACEMENT_H

/* For tables: places them after all small data, which then takes only a few pages. A forked child
 * and its parent copy each page that they write to. */
#define SEEP_LARGE __attribute__((section(".bss.large")))

/* For what each event reads and next to none writes: together in a few cache lines. */
#define SEEP_HOT __attribute__((section("seep_hot")))

/* For the functions that each event runs: together in a few pages. */
#define SEEP_EACH_EVENT __attribute__((hot))

#endif
