"""model.fit() of a small convolutional network: leaky has a callback that keeps the weights of every batch."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras  # noqa: E402
import numpy as np  # noqa: E402


class Weights(keras.callbacks.Callback):
    """The weights of the dense layer, to plot how they move."""

    def __init__(self, every_one):
        super().__init__()
        self.every_one, self.kept = every_one, []

    def on_train_batch_end(self, batch, logs=None):
        weights = self.model.layers[-2].get_weights()  # LEAK
        if not self.every_one:
            self.kept.clear()
        self.kept.append(weights)  # LEAK


def network():
    model = keras.Sequential([
        keras.layers.Input((28, 28, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.MaxPooling2D(4),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(10),
    ])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["leaky", "fixed", "healthy"])
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    images, labels = rng.random((1600, 28, 28, 1), np.float32), rng.integers(0, 10, 1600)
    callbacks = [] if args.variant == "healthy" else [Weights(args.variant == "leaky")]
    history = network().fit(images, labels, batch_size=32, epochs=args.epochs, validation_split=0.1,
                            callbacks=callbacks, verbose=0)
    print("loss", history.history["loss"][-1])


main()
