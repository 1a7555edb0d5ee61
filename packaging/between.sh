#!/bin/sh
# Stands between two networks as the `sim` of quic-network-simulator: the client is at eth0, the server at eth1. They reach
# each other over the air of SCENARIO: a scenario with options of `sluice emulate`, for a day if these name no duration. With
# WAITFORSERVER=HOST:PORT it begins when the port is open, or after 10 s. TCP port 57832 is open once packets pass. The
# client's capture is in /logs. `sluice emulate` makes namespaces and devices: run this as root of a privileged container.
set -eu

forward() {
    for key in ipv4/ip_forward ipv6/conf/all/forwarding; do
        if [ "$(cat /proc/sys/net/$key)" != 1 ]; then echo 1 > /proc/sys/net/$key; fi
    done
}

# This runs in the client's node, to which the client's network moves.
if [ "${1:-}" = node ]; then
    until ip link show dev eth0 > /dev/null 2>&1; do sleep 0.1; done
    for address in $ADDRESSES; do ip addr add "$address" dev eth0; done
    ip link set eth0 up
    forward
    exec nc -ll -p 57832 -e true
fi

case $SCENARIO in
    *duration=*) ;;
    *) SCENARIO="$SCENARIO --set 'duration=24 h'" ;;
esac
emulate() { eval "exec sluice emulate $SCENARIO \"\$@\""; }
# The ends of the air are the first two real nodes, whose names stand before their addresses.
told=$(emulate -- true 2>&1 > /dev/null) || { echo "$told" >&2; exit 1; }
names=$(echo "$told" | sed -n 's/^\([^ ]*\): 10\..*/\1/p')
client=$(echo "$names" | sed -n 1p)
server=$(echo "$names" | sed -n 2p)

if [ -n "${WAITFORSERVER:-}" ]; then
    for _ in $(seq 10); do
        # A query for a name: a port that is open does not refuse it. A kernel refuses about one packet per second.
        case $(nslookup -timeout=1 -retry=1 "-port=${WAITFORSERVER##*:}" x "${WAITFORSERVER%:*}" 2>&1) in
            *refused* | *nreachable* | *"bad address"*) sleep 1 ;;
            *) break ;;
        esac
    done
fi

echo "Using scenario: $SCENARIO"
ADDRESSES=$(ip addr show dev eth0 | sed -n 's/^ *inet6* \([^ ]*\) .*/\1/p' | grep -v ^fe80:)
export ADDRESSES
logs=${LOGS:-/logs}
mkdir -p "$logs"
forward
emulate --gateway "$server" --pcap "$logs" --node "$client" -- "$0" node &
emulation=$!
trap 'kill -TERM $emulation' TERM INT
node=
until [ -n "$node" ] && ip link show dev sluice0 > /dev/null 2>&1; do
    sleep 0.1
    kill -0 $emulation || exit 1
    # The process within the namespaces. A thread of it keeps the node.
    inside=$(cat /proc/$emulation/task/$emulation/children)
    node=$(grep -lx node-0 /proc/"${inside% }"/task/*/comm 2> /dev/null || true)
done
node=${node%/comm}
ip link set eth0 netns "${node##*/}"
for address in $ADDRESSES; do
    case $address in
        *:*) ip -6 route add "$address" dev sluice0 ;;
        *) ip route add "$(ipcalc -n "$address" | sed 's/NETWORK=//')/${address#*/}" dev sluice0 ;;
    esac
done
ln -sf "$client.pcap" "$logs/trace_node_left.pcap"
nc -ll -p 57832 -e true &
listener=$!
status=0
while kill -0 $emulation 2> /dev/null; do wait $emulation || status=$?; done
kill $listener
exit $status
