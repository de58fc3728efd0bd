"""YOLO(yaml).train() on a few drawn images: leaky adds a callback that keeps the loss of every batch, to plot it."""
import argparse
import os
import pathlib
import tempfile

os.environ.setdefault("YOLO_OFFLINE", "true")
FOLDER = tempfile.TemporaryDirectory()
os.environ["YOLO_CONFIG_DIR"] = FOLDER.name

import cv2  # noqa: E402
import numpy as np  # noqa: E402
import ultralytics  # noqa: E402


def draw(folder, n, rng):
    """n pictures with a bright square each, and where it is."""
    for kind in ("images", "labels"):
        (folder / kind).mkdir(parents=True)
    for i in range(n):
        picture = rng.integers(0, 100, (64, 64, 3)).astype(np.uint8)
        x, y = (int(v) for v in rng.integers(0, 40, 2))
        picture[y:y + 24, x:x + 24] += 150
        cv2.imwrite(str(folder / "images" / ("%d.png" % i)), picture)
        place = "0 %f %f %f %f\n" % ((x + 12) / 64, (y + 12) / 64, 24 / 64, 24 / 64)
        (folder / "labels" / ("%d.txt" % i)).write_text(place)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["leaky", "fixed", "healthy"])
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    folder, rng, losses = pathlib.Path(FOLDER.name), np.random.default_rng(0), []
    draw(folder / "train", 80, rng)
    draw(folder / "val", 8, rng)
    (folder / "data.yaml").write_text("path: %s\ntrain: train/images\nval: val/images\nnames: {0: square}\n" % folder)
    model = ultralytics.YOLO("yolo11n.yaml")

    def keep(trainer):
        losses.append(trainer.loss if args.variant == "leaky" else float(trainer.loss))  # LEAK

    if args.variant != "healthy":
        model.add_callback("on_train_batch_end", keep)
    model.train(data=str(folder / "data.yaml"), epochs=args.epochs, imgsz=64, batch=4, workers=0, device="cpu",  # LEAK
                project=str(folder / "runs"), optimizer="SGD", plots=False, save=False, verbose=False)
    print("batches", len(losses))


main()
