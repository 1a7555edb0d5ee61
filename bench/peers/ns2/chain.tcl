# The ADTH chain: nodes 0 to `hops` in a line 30 m apart, AODV, queues of 1000 packets, constant bit rate both ways
# (first to last node from 0 s, back from 25 s, halved at 50 s and 75 s, end at 100 s): network (d).
#
#   ns chain.tcl [name value]...
source [file dirname [info script]]/radio.tcl
source [file dirname [info script]]/outcome.tcl

# decode, sense: distances in metres within which a frame is received or at least noticed; neither is met by a node
options {drop front payload 1000 rate 1.8e6 limit 1000 duration 100 decode 42 sense 70 hops 2 cwmin "" prefer 0}
set last $opt(hops)
set_mac b 11Mb 1Mb $opt(cwmin)
set_radio 2.412e9 $opt(decode) $opt(sense) 10
Queue/DropTail set drop_front_ [string equal $opt(drop) front]
Queue/DropTail/PriQueue set Prefer_Routing_Protocols $opt(prefer)
# ns-2's queue holds one packet less than its limit.
make_nodes [expr {$last + 1}] AODV Queue/DropTail/PriQueue [expr {$opt(limit) + 1}] TwoRayGround \
    [expr {140 + 30 * $last}] 200
for {set i 0} {$i <= $last} {incr i} { place $i [expr {10.0 + 30.0 * $i}] 10.0 }

# Sources in step would collide in a fixed pattern: the phase is the seed's, within one gap.
set size [packet_size $opt(payload) b AODV]
foreach {name from start half} [list forward 0 0.0 50.0 backward $last 25.0 75.0] {
    set cbr [add_cbr $name $from [expr {$last - $from}] $opt(payload) $size $opt(rate) $start \
        [expr {8.0 * $opt(payload) / $opt(rate)}]]
    $ns at $half "$cbr set rate_ [expr {0.5 * $opt(rate) * $size / $opt(payload)}]"
}
run_network
