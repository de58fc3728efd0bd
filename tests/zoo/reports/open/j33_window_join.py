"""Streaming join of impressions and clicks: impressions wait for clicks for 20 micro-batches, then the watermark
drops them. pandas."""
import numpy as np
import pandas as pd


class Source:
    def __init__(self, seed):
        self.g = np.random.default_rng(seed)
        self.history = []          # ids of the last 15 batches, for the clicks

    def batch(self, t, rows=1400):
        ids = np.arange(t * rows, (t + 1) * rows)
        self.history = (self.history + [ids])[-15:]
        imp = pd.DataFrame({"id": ids, "t": t, "ad": self.g.integers(0, 50, rows), "bid": self.g.random(rows),
                            "x": self.g.normal(size=rows), "y": self.g.normal(size=rows)})
        clicked = self.g.choice(np.concatenate(self.history), 60, replace=False)
        return imp, pd.DataFrame({"id": clicked, "at": t})


class WindowJoin:
    def __init__(self, delay):
        self.delay, self.state, self.late = delay, {}, 0

    def feed(self, t, imp, clicks):
        self.state[t] = imp.set_index("id")
        out = []
        for frame in self.state.values():
            hit = clicks[clicks["id"].isin(frame.index)] if len(frame) else clicks[:0]
            if len(hit):
                out.append(frame.loc[hit["id"], ["ad", "bid"]])
        for old in [k for k in self.state if k <= t - self.delay]:
            del self.state[old]
        return pd.concat(out) if out else None


source, join = Source(12), WindowJoin(20)
spend = pd.Series(0.0, index=range(50))
for t in range(90):
    joined = join.feed(t, *source.batch(t))
    if joined is not None:
        spend = spend.add(joined.groupby("ad")["bid"].sum(), fill_value=0.0)
    if t % 30 == 29:
        print("batch %d: %d windows open, spend %.1f" % (t + 1, len(join.state), spend.sum()), flush=True)
print("top ad", int(spend.idxmax()))
