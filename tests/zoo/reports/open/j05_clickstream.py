#!/usr/bin/env python3
"""Clickstream ETL: read hourly chunks, sessionise, report dwell time by page. pandas."""
import sys

import numpy as np
import pandas as pd

PAGES = ["home", "search", "item", "cart", "checkout", "help", "blog", "login"]


def read_chunk(hour, rows=3500):
    g = np.random.default_rng(hour)
    df = pd.DataFrame({
        "user": g.integers(0, 900, rows),
        "page": g.integers(0, len(PAGES), rows),
        "ts": hour * 3600 + np.sort(g.integers(0, 3600, rows)),
        "dwell": g.gamma(2.0, 15.0, rows),
        "scroll": g.random(rows),
        "bytes": g.integers(200, 90000, rows),
    })
    return df


def clean(df):
    df = df[df["dwell"] < 200].copy()
    df["rate"] = df["bytes"] / df["dwell"].clip(lower=0.5)
    return df


class Keeping:
    """One big frame with everything so far, the report is a groupby over it."""

    def __init__(self):
        self.events = pd.DataFrame()

    def update(self, df):
        self.events = pd.concat([self.events, df], ignore_index=True)  # LEAK HELD

    def report(self):
        return self.events.iloc[-20000:].groupby("page")["dwell"].mean()


class Summing:
    def __init__(self):
        self.total = None

    def update(self, df):
        part = df.groupby("page")["dwell"].agg(["sum", "count"])
        self.total = part if self.total is None else self.total.add(part, fill_value=0)

    def report(self):
        return self.total["sum"] / self.total["count"]


def main(mode):
    agg = {"events": Keeping, "totals": Summing}[mode]()
    for hour in range(90):
        agg.update(clean(read_chunk(hour)))
        if hour % 24 == 23:
            r = agg.report()
            print("day %d: longest dwell on %s (%.1f s)" % (hour // 24, PAGES[int(r.idxmax())], r.max()), flush=True)


main(sys.argv[1] if len(sys.argv) > 1 else "events")
