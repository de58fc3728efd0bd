/* This part of the gate judges budgets on who holds what: how fast a container grows, and what
 * nobody holds. */
#ifndef SEEP_LIBPROF_GATE_GATE_HOLDERS_H
#define SEEP_LIBPROF_GATE_GATE_HOLDERS_H

#include "libprof/gate/budget.h"
#include "libprof/gate/gate_check.h"

/* Adds the line of the check for a budget of kind SEEP_BUDGET_HOLDER or SEEP_BUDGET_LOST. A
 * container that no snapshot saw hold anything has not grown. Returns 0; -SEEP_ENODATA with *err
 * where the report has no snapshot, or too few of that container. */
SEEP_MUST_CHECK int seep_gate_holders(struct seep_gate_check *check, const json_t *report,
                                      const struct seep_budget_line *line, struct seep_error *err);

#endif
