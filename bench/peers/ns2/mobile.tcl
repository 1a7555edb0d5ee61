# Fifty nodes that move on 1500 m by 300 m, AODV or DSR, ten flows of constant bit rate: network (g).
#
#   ns mobile.tcl movement FILE [name value]...      FILE as `movement.py` writes it
source [file dirname [info script]]/radio.tcl
source [file dirname [info script]]/outcome.tcl

options {movement "" payload 512 interval 0.25 flows 10 limit 50 start 10 duration 110 cwmin "" prefer 0
    routing AODV}
set_mac b 2Mb 1Mb $opt(cwmin)
set_radio 914e6 250 550 10
Queue/DropTail/PriQueue set Prefer_Routing_Protocols $opt(prefer)
# ns-2's queue holds one packet less than its limit.
make_nodes 50 $opt(routing) [expr {$opt(routing) eq "DSR" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}] \
    [expr {$opt(limit) + 1}] TwoRayGround 1500 300

# The file's names.
set ns_ $ns
array set node_ [array get node]
source $opt(movement)

set size [packet_size $opt(payload) b $opt(routing)]
for {set i 0} {$i < $opt(flows)} {incr i} {
    add_cbr f$i $i [expr {$i + 25}] $opt(payload) $size [expr {8.0 * $opt(payload) / $opt(interval)}] \
        $opt(start) $opt(interval)
}
run_network
