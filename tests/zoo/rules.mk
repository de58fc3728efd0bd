zoo: all ## run the zoo's training jobs and hold the verdicts against their tables
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/zoo/zoo.py

zoo-looks: all ## ask "seep look" who holds the memory of the zoo's jobs, leaking and fixed, not under seep (20 minutes)
	$(Q)status=0; for variant in "" --fixed; do SEEP=$(SEEP) $(PYTHON) -m tests.zoo.looks $$variant || status=1; done; exit $$status

zoo-reports: all ## run jobs written after public reports, and score what seep says of them (ten minutes)
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/zoo/reports/score.py

# Two PyTorch wheels, on the stand-ins that "make gpu-torch" has put beside them.
zoo-gpu: all $(STANDIN_LIBS) ## the same for jobs on a GPU, with the wheels that make gpu-torch has installed
	$(Q)for v in 12 13; do at=$(BUILD)/gpu-torch/cu$$v; \
		if [ ! -x $$at/venv/bin/python ]; then echo "zoo-gpu: no PyTorch for CUDA $$v: make gpu-torch installs it"; \
		else echo "== PyTorch for CUDA $$v" && SEEP=$(SEEP) PYTHON=$$at/venv/bin/python $(PYTHON) \
			tests/zoo/reports/score.py --set gpu --env LD_LIBRARY_PATH=$(abspath $(STANDIN)/$$v):$(CURDIR)/$$at/lib || exit 1; fi; done

zoo-snapshots: $(SEEP) $(STANDIN_LIBS) ## the same without seep: PyTorch records its own memory snapshots, and these are judged
	$(Q)at=$(BUILD)/gpu-torch/cu13; [ -x $$at/venv/bin/python ] || { echo "zoo-snapshots: make gpu-torch installs PyTorch"; exit 0; }; \
		SEEP=$(SEEP) PYTHON=$$at/venv/bin/python $(PYTHON) tests/zoo/reports/score.py --set gpu --snapshots \
			--env LD_LIBRARY_PATH=$(abspath $(STANDIN)/13):$(CURDIR)/$$at/lib --env OMP_NUM_THREADS=1

.PHONY: zoo zoo-snapshots zoo-looks zoo-reports zoo-gpu
