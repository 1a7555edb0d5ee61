# # Compare and sweep in Python
#
# Load a scenario, change its keys, run it, and compare the results as tables and charts. The package `sluice-wifi` is
# imported as `sluice`. To install it from the repository, run `make wheel`, then `pip install dist/*.whl polars
# altair`.
#
# ## Load and run
#
# `sluice.load` reads a scenario file. Sluice checks the whole file before it runs anything. `run` simulates the network
# once, with one seed; with `series` it also records time series.

import sluice

scenario = sluice.load("scenarios/adth/s1a.toml")
adth = scenario.run(seed=1, series="1 s")
print(adth)

# ## Change keys
#
# `replace` returns a copy of the scenario with other values. Keys are dotted paths, as for `sluice run --set`.

fifo = scenario.replace({"queue.controller": "none"}).run(seed=1, series="1 s")
worst = {name: max(result.flows["delay_s.max"]) for name, result in [("FIFO", fifo), ("ADTH", adth)]}
assert worst["ADTH"] < 0.4 < worst["FIFO"], worst

# ## Tables
#
# A result has tables: `flows`, `queues`, `nodes`, `hops`, `totals`, `claims`, and, over time, `flow_series` and
# `queue_series`. Their columns are the keys of `sluice run --json` in SI units. The tables are in Arrow's format;
# polars, pandas, DuckDB and pyarrow read them without a copy.

import polars

delays = polars.DataFrame(adth.queue_series).group_by("queue", maintain_order=True).agg(polars.max("nodal_delay_max_s"))
print(delays)
assert delays["queue"].to_list() == ["n0", "n1", "n2"]

# ## Claims
#
# `sluice.claims` runs a scenario with all of its variations and rules on its claims, as `sluice reproduce` does. The
# table has the document's value, the measured value with its 95 % interval, and the verdict. If a claim does not hold,
# the scenario gives the reason.

verdicts = sluice.claims("scenarios/adth/s1a.toml", quick=True).to_polars()
print(verdicts.select("id", "reported", "measured", "low", "high", "verdict"))
assert verdicts["id"][0] == "adth-s1a.1"

# ## Charts
#
# `plot` draws a column, over time if it belongs to a time series, and returns an Altair chart that you can change.

chart = adth.plot("limit").properties(title="Limits of the three queues")
chart.save("limits.html")

# ## Sweep
#
# `sluice.sweep` runs every combination of values with every seed, on all processors. The dictionary `over` maps the
# dotted path of a key to a list of values, or a name of your choice to labelled changes. The tables are as for a single
# run, with a column for each axis and the seed. `plot` draws the mean and its 95 % interval over the seeds.

over = {
    "scheme": {"FIFO": {"queue.controller": "none"}, "ADTH": {"queue.controller": "adth"}},
    "queue.adth.target_delay": ["200 ms", "400 ms"],
}
sweep = sluice.sweep(scenario, over=over, seeds=3, store="runs")
assert len(sweep.runs) == 2 * 2 * 3
sweep.plot(x="queue.adth.target_delay", y="delay_s.max", colour="scheme").save("delay.html")

# `store` keeps each finished chunk of runs in a folder, one Parquet data set per table. After an interruption the same
# call continues where it stopped. A folder holds one sweep: Sluice refuses it for another scenario, values or seeds, or
# another version of Sluice.

flows = polars.read_parquet("runs/flows/*.parquet")
by_scheme = flows.group_by("scheme", maintain_order=True).agg(polars.max("delay_s.max"))
assert by_scheme["delay_s.max"][1] < by_scheme["delay_s.max"][0]

again = sluice.sweep(scenario, over=over, seeds=3, store="runs")
assert again.flows.to_dict() == sweep.flows.to_dict()

# A failed run does not end the sweep: `sweep.failures` has the run's case, its seed and the reason.

assert sweep.failures == []

# With `executor` a sweep runs elsewhere: on a `concurrent.futures.Executor`, such as a process pool or Dask's
# `Client.get_executor()`. `sluice.ray()` is the executor of a Ray cluster (`sluice.ray("auto")` after `ray start`). The
# executor gets chunks of runs that take about a second, and never many more chunks than it has workers. If a Ray worker
# dies, its chunk is run again. Every machine needs the same build of Sluice, and the files that the scenario names.
#
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

# ## Errors
#
# A scenario with a mistake raises `sluice.ScenarioError`, with the line and the nearest valid name. The line is in the
# file, or in `Scenario.text` for a scenario built from a dictionary.

try:
    sluice.Scenario({**network, "queue": {"limit": 100, "controler": "ebdp"}})
except sluice.ScenarioError as error:
    print(error)
    assert error.nearest == "controller"
