pictures: all ## make the pictures of README.md and docs/tour.md again, in a real browser
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/browser/pictures.py docs/pictures

.PHONY: pictures
