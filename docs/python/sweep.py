# # Sweep over parameters in Python
#
# `sluice.sweep` runs every combination of values with every seed, on all processors, on a cluster, or on whatever else runs
# functions. Results do not depend on where they were made. Needs polars for the folder of results, and Altair for charts:
# `pip install polars altair`.
#
# ## Run
#
# What varies is a dictionary: a list of values by the dotted path of a key, or labelled changes by a name of your choice.

import sluice

scenario = sluice.load("scenarios/adth/s1a.toml")
over = {
    "scheme": {"FIFO": {"queue.controller": "none"}, "ADTH": {"queue.controller": "adth"}},
    "queue.adth.target_delay": ["200 ms", "400 ms"],
}
sweep = sluice.sweep(scenario, over=over, seeds=3, store="runs")
print(sweep)
assert len(sweep.runs) == 2 * 2 * 3

# The tables are those of a single run, with a column for each axis and the seed. `plot` draws the mean and its 95 %
# interval over the seeds.

sweep.plot(x="queue.adth.target_delay", y="delay_s.max", colour="scheme").save("delay.html")

# ## The folder
#
# With `store` each finished chunk of runs is kept at once, and a sweep that was interrupted, killed or cut off from its
# cluster goes on from there when the same call is made again. A folder holds one sweep: another scenario, other values,
# seeds or another version of Sluice are refused, so that results that do not belong together are never mixed. Each table
# is one Parquet data set. All of it is the same bytes wherever it was made, but for the table `cost` (times and
# processor times).

import polars

flows = polars.read_parquet("runs/flows/*.parquet")
worst = flows.group_by("scheme", maintain_order=True).agg(polars.max("delay_s.max"))
print(worst)
fifo, adth = worst["delay_s.max"]
assert adth < fifo

again = sluice.sweep(scenario, over=over, seeds=3, store="runs")
assert again.flows.to_dict() == sweep.flows.to_dict()

try:
    sluice.sweep(scenario, over=over, seeds=4, store="runs")
except sluice.StoreError as error:
    print(error)

# ## Elsewhere
#
# `executor` is any `concurrent.futures.Executor`: a pool of processes, the one that Dask's `Client.get_executor()` gives,
# or `sluice.ray()` for a Ray cluster (`sluice.ray("auto")` for one that was started with `ray start`). Chunks of runs are
# handed out, each of about a second, and only a few more than there are workers. When a Ray worker dies, its chunk is
# tried again. Every machine needs the same build of Sluice, and the files that the scenario names.

from concurrent.futures import ProcessPoolExecutor

if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        elsewhere = sluice.sweep(scenario, over=over, seeds=3, executor=pool)
    assert elsewhere.queues.to_dict() == sweep.queues.to_dict()

# ## Failed runs
#
# A run that fails does not end the sweep: `sweep.failures` has its case, its seed and what happened.

assert sweep.failures == []
