#!/bin/sh
# The test for scenarios/kernel/roam.toml: a phone associates, sleeps between packets, and roams from one access point to the other
# while the server pings it.
set -e
at() {
    ip netns exec phone iw dev wlan0 link | sed -n "s/^Connected to \(\S*\).*/\1/p"
}
first=$(at)
second=$(ip netns exec ap2 cat /sys/class/net/wlan0/address)
echo "associated with $first"
ip netns exec phone iw dev wlan0 set power_save on
echo "asleep, every 1.1 s a ping:"
ip netns exec server ping -c 8 -i 1.1 phone
ip netns exec server ping -c 200 -i 0.05 -q phone > /run/ping &
sleep 4
wpa_cli -p /run/phone -i wlan0 roam "$second"
wait $!
echo "roamed to $(at), every 50 ms a ping:"
cat /run/ping
echo "asleep there, every 1.1 s a ping:"
ip netns exec server ping -c 8 -i 1.1 phone
test "$first" != "$second"
test "$(at)" = "$second"
