# # Compare two schemes in Python
#
# You load a scenario, change keys, run it, and look at the results as tables and charts. The package is called
# `sluice-wifi` and imported as `sluice` (the name `sluice` in the package indexes belongs to other projects). From the
# repository: `make wheel`, then `pip install dist/*.whl polars altair`.
#
# ## Load and run
#
# `sluice.load` reads a scenario file. Everything in it is checked before anything runs. `run` simulates the network
# once, with one seed; with `series` it records how things develop.

import sluice

scenario = sluice.load("scenarios/adth/s1a.toml")
adth = scenario.run(seed=1, series="1 s")
print(adth)

# ## Change keys
#
# `replace` gives the same scenario with other values, by the dotted paths of `sluice run --set`. A scenario never
# changes by itself.

fifo = scenario.replace({"queue.controller": "none"}).run(seed=1, series="1 s")
worst = {name: max(result.flows["delay_s.max"]) for name, result in [("FIFO", fifo), ("ADTH", adth)]}
assert worst["ADTH"] < 0.4 < worst["FIFO"], worst

# ## Tables
#
# A result has tables: `flows`, `queues`, `nodes`, `hops`, `totals`, `claims`, and over time `flow_series` and
# `queue_series`. Their columns are the keys of `sluice run --json` in SI units, in Arrow's format, which polars, pandas,
# DuckDB and pyarrow read without a copy; in a notebook they show themselves.

import polars

delays = polars.DataFrame(adth.queue_series).group_by("queue", maintain_order=True).agg(polars.max("nodal_delay_max_s"))
print(delays)
assert delays["queue"].to_list() == ["n0", "n1", "n2"]

# ## Claims
#
# `sluice.claims` runs a scenario with everything that it varies and rules on its claims, as `sluice reproduce` does: what
# the document reports, what was measured with its 95 % interval, the verdict, and where a claim does not hold, what is
# written about it.

verdicts = sluice.claims("scenarios/adth/s1a.toml", quick=True).to_polars()
print(verdicts.select("id", "reported", "measured", "low", "high", "verdict"))
assert verdicts["id"][0] == "adth-s1a.1"

# ## Charts
#
# `plot` draws a column with Altair: over time if it is one of a series. A chart is Altair's own and can be changed like
# any other.

chart = adth.plot("limit").properties(title="Limits of the three queues")
chart.save("limits.html")

# ## Build one
#
# A scenario is a dictionary with the keys of the [scenario file](../scenario/README.md), nested as its tables are.

network = {
    "title": "Two stations send to an access point",
    "duration": "5 s",
    "radio": {"standard": "802.11g", "data_rate": "54 Mb/s", "range": "50 m"},
    "node": [
        {"name": "ap", "position": ["0 m", "0 m"]},
        {"name": "left", "position": ["-10 m", "0 m"]},
        {"name": "right", "position": ["10 m", "0 m"]},
    ],
    "queue": {"limit": 100, "controller": "ebdp"},
    "flow": [
        {"name": name, "from": name, "to": "ap", "traffic": {"kind": "cbr", "rate": "20 Mb/s", "packet": "1500 B"}}
        for name in ["left", "right"]
    ],
}
built = sluice.Scenario(network).run(seed=1)
assert built.totals["totals.jain_index"][0] > 0.95

# ## What is wrong is told where it stands
#
# A scenario with a mistake raises `sluice.ScenarioError`, with the line and the nearest right name. The line is that of
# the file, or of `Scenario.text` for a scenario that was built.

try:
    sluice.Scenario({**network, "queue": {"limit": 100, "controler": "ebdp"}})
except sluice.ScenarioError as error:
    print(error)
    assert error.nearest == "controller"
