#!/bin/sh
# The example for scenarios/kernel/home.toml: the stations are associated; pings to the server, and a transfer each way.
set -e
cd "$(dirname "$0")"
for station in laptop phone; do
    echo "$station:"
    ip netns exec $station iw dev wlan0 link | grep -E "Connected|SSID|freq"
    ip netns exec $station ping -q -c 20 -i 0.2 server
done
ip netns exec server python3 transfer.py listen &
ip netns exec laptop python3 transfer.py get server 1
ip netns exec phone python3 transfer.py put server 1
ip netns exec ap iw dev wlan0 station dump | grep -E "^Station|tx bitrate|tx retries|tx failed"
kill $!
