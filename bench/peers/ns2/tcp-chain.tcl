# TCP over a chain: nodes 0 to `hops` in a line 30 m apart, one greedy connection from the first to the last, Reno and
# SACK, segments of 1000 B, drop-tail queue of 50 packets: network (j).
#
#   ns tcp-chain.tcl [name value]...      routing: aodv, or static in the copy with the rule static-routes alone
source [file dirname [info script]]/radio.tcl
source [file dirname [info script]]/outcome.tcl

options {hops 1 routing aodv limit 50 duration 60 warmup 10 decode 42 sense 70 capture 10 cwmin "" prefer 0}
set last $opt(hops)
set_mac b 11Mb 1Mb $opt(cwmin)
set_radio 2.412e9 $opt(decode) $opt(sense) $opt(capture)
Queue/DropTail/PriQueue set Prefer_Routing_Protocols $opt(prefer)
# ns-2's queue holds one packet less than its limit.
make_nodes [expr {$last + 1}] [expr {$opt(routing) eq "aodv" ? "AODV" : "DumbAgent"}] Queue/DropTail/PriQueue \
    [expr {$opt(limit) + 1}] TwoRayGround [expr {40 + 30 * $last}] 200
for {set i 0} {$i <= $last} {incr i} { place $i [expr {10.0 + 30.0 * $i}] 10.0 }
add_download down 0 $last
run_network
