# From PyPI, 6 GB. The check itself uses stand-ins for the frameworks.
INTEGRATIONS := $(BUILD)/integrations/venv
check-integrations: all ## the callbacks with Lightning, transformers, accelerate, Keras and ignite, from PyPI
	$(Q)[ -x $(INTEGRATIONS)/bin/accelerate ] || { $(PYTHON) -m venv $(INTEGRATIONS) && $(INTEGRATIONS)/bin/pip install -q \
		torch lightning transformers accelerate keras pytorch-ignite; }
	$(Q)SEEP=$(SEEP) INTEGRATIONS_PYTHON=$(CURDIR)/$(INTEGRATIONS)/bin/python $(PYTHON) -m unittest tests.integrations.real_frameworks

.PHONY: check-integrations
