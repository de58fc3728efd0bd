"""Calibrates survey exposures; those that fail their checks are put aside and reported at the end.

  --report errors     keep the exceptions
  --report messages   keep their texts"""
import argparse
import logging

import numpy as np

log = logging.getLogger("etl")


class CalibrationError(ValueError):
    pass


def read_exposure(k):
    r = np.random.RandomState(k)
    img = r.gamma(2.0, 50.0, (160, 200))  # LEAK
    if r.rand() < 0.3:
        img[:, r.randint(0, 200, 30)] = np.nan
    return {"exposure": k, "gain": r.uniform(0.8, 1.2)}, img


def calibrate(header, raw):
    bias = np.nanmedian(raw[:8])
    flat = (raw - bias) * header["gain"]  # LEAK
    bad = np.isnan(flat).mean()
    if bad > 0.05:
        raise CalibrationError("exposure %(exposure)d: too many dead columns" % header)
    return flat


def process(k):
    header, raw = read_exposure(k)
    flat = calibrate(header, raw)
    return float(np.nanmean(flat)), float(np.nanstd(flat))


class Batch:
    def __init__(self, report):
        self.report, self.failed, self.stats = report, [], []

    def run(self, n):
        for k in range(n):
            try:
                self.stats.append(process(k))
            except CalibrationError as exc:
                log.debug("skipped %d", k)
                self.failed.append(exc if self.report == "errors" else str(exc))  # HELD

    def summary(self):
        mean = np.mean([m for m, _ in self.stats])
        return "%d good (mean %.2f), %d failed; first: %s" % (len(self.stats), mean, len(self.failed), self.failed[0])


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--report", choices=["errors", "messages"], default="errors")
    batch = Batch(p.parse_args().report)
    batch.run(360)
    print(batch.summary())
