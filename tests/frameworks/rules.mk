# From PyPI, 8 GB: python3 -m venv build/venv-frameworks, and there pip install jax tensorflow-cpu torch lightning
# transformers accelerate stable-baselines3 ultralytics-opencv-headless timm torch-geometric. What is missing is skipped.
check-frameworks: all ## trainings of JAX, Keras, Lightning and others, where build/venv-frameworks has them
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/frameworks/frameworks.py

.PHONY: check-frameworks
