pages: ## make docs/patterns.md, and the lists in README.md, docs/ and the schemas, from the tables
	@mkdir -p $(BUILD)
	$(Q)$(PYTHON) tools/patterns.py >$(BUILD)/patterns.md && cp $(BUILD)/patterns.md docs/patterns.md
	$(Q)$(PYTHON) tools/lists.py

texts: ## list all that users read, with its place, in build/texts.txt; counts what breaks rules of English
	@mkdir -p $(BUILD)
	$(Q)$(PYTHON) tools/texts.py >$(BUILD)/texts.txt

.PHONY: pages texts
