# Debian's Slurm, two nodes on this machine, in namespaces of their own: all that runs ends with them, and nothing outside
# is touched. It takes root: slurmctld calls setgroups(), which namespaces of users deny.
SLURM_ALONE := unshare --mount --uts --pid --fork --kill-child --mount-proc

check-slurm: all $(SEEP_MPIS) ## "seep run" and seep-mpi under Debian's Slurm, as root: srun, sbatch, PMIx, PMI 2 (six minutes)
	$(Q)[ "$$(id -u)" = 0 ] || { echo "check-slurm: slurmctld needs root: sudo make check-slurm"; exit 1; }
	$(Q)for p in munged slurmctld slurmd srun; do PATH=$$PATH:/usr/sbin command -v $$p >/dev/null || { \
		echo "check-slurm: there is no $$p: apt-get install --no-install-recommends slurmctld slurmd slurm-client"; exit 1; }; done
	$(Q)SEEP=$(abspath $(SEEP)) SEEP_SLURM=1 $(SLURM_ALONE) sh -c '"$$@"; exit $$?' sh \
		$(PYTHON) -m unittest -v $(or $(SUITES),tests.slurm.check_slurm tests.slurm.check_slurm_merge)

.PHONY: check-slurm
