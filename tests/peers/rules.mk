# From PyPI; the venv sees the system's PyTorch. beside-others.md says where the rest is from. Missing ones are skipped.
peers: all $(STANDIN_LIBS) ## ask memray's reports, PyTorch's memory_viz and "seep view" the same, and count the clicks
	$(Q)[ -x $(BUILD)/peers/venv/bin/memray ] || { /usr/bin/python3 -m venv --system-site-packages $(BUILD)/peers/venv && \
		$(BUILD)/peers/venv/bin/python -m pip install -q memray; } || echo "peers: memray cannot be had"
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/peers/questions.py

# From PyPI; the venv sees the system's PyTorch. Missing packages are skipped.
STRANGERS := $(BUILD)/look-strangers/venv/bin/python
look-strangers: all ## "seep look" at a Jupyter kernel, web servers and trainings that nobody wrote for it
	$(Q)[ -x $(STRANGERS) ] || { /usr/bin/python3 -m venv --system-site-packages $(BUILD)/look-strangers/venv && \
		$(STRANGERS) -m pip install -q ipykernel jupyter_client flask gunicorn pympler "transformers<4.36" "accelerate<0.25" \
		"stable-baselines3<2.3" gymnasium; } || echo "look-strangers: not all can be had"
	$(Q)SEEP=$(abspath $(SEEP)) $(STRANGERS) tests/peers/look_strangers.py

.PHONY: peers look-strangers
