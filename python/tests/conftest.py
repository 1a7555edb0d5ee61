import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

CHAIN = """
title = "Three nodes in a chain"
duration = "2 s"
[radio]
standard = "802.11b"
data_rate = "11 Mb/s"
range = "30 m"
carrier_sense_range = "60 m"
[nodes]
count = 3
placement = "chain"
spacing = "30 m"
[queue]
discipline = "drop-head"
limit = 100
controller = "adth"
[queue.adth]
target_delay = "200 ms"
[[flow]]
name = "forward"
from = "n0"
to = "n2"
traffic = { kind = "cbr", rate = "1.8 Mb/s", packet = "1000 B" }
deadline = "400 ms"
"""


@pytest.fixture
def chain():
    import sluice

    return sluice.Scenario(CHAIN)


@pytest.fixture
def root():
    return ROOT
