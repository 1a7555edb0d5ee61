# TCP over a chain: nodes 0 to `hops` in a line, one greedy connection from the first to the last, drop-tail queue of 50
# packets; with `cbr`, a constant bit rate instead, in bit/s. By default network (j); network (k) has other values of all options of the second line.
#
#   ns tcp-chain.tcl [name value]...      routing: aodv, dsr, or static in the copy with the rule static-routes alone
#                                         recovery: sack or newreno, each with the rest of its network's TCP
source [file dirname [info script]]/radio.tcl
source [file dirname [info script]]/outcome.tcl

options {hops 1 routing aodv limit 50 duration 60 warmup 10 capture 10 cwmin "" prefer 0
    data 11Mb rts 0 spacing 30 frequency 2.412e9 decode 42 sense 70 recovery sack segment 1000 cbr 0 link_delay 25us}
set last $opt(hops)
LL set delay_ $opt(link_delay)
set_mac b $opt(data) 1Mb $opt(cwmin)
if {$opt(rts)} { Mac/802_11 set RTSThreshold_ 0 }
set_radio $opt(frequency) $opt(decode) $opt(sense) $opt(capture)
Queue/DropTail/PriQueue set Prefer_Routing_Protocols $opt(prefer)
# ns-2's queue holds one packet less than its limit.
# With DSR its queue, which puts messages first and hands the packets for a broken link back.
array set agents {aodv AODV dsr DSR static DumbAgent}
make_nodes [expr {$last + 1}] $agents($opt(routing)) \
    [expr {$opt(routing) eq "dsr" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}] [expr {$opt(limit) + 1}] TwoRayGround [expr {40 + $opt(spacing) * $last}] 200
for {set i 0} {$i <= $last} {incr i} { place $i [expr {10.0 + 1.0 * $opt(spacing) * $i}] 10.0 }
if {$opt(cbr)} {
    add_cbr down 0 $last $opt(segment) [packet_size $opt(segment) b [string toupper $opt(routing)]] $opt(cbr) 0.0 \
        [expr {8.0 * $opt(segment) / $opt(cbr)}]
    run_network
}
# DSR counts an IP header of its own.
add_download down 0 $last $opt(recovery) $opt(segment) [expr {$opt(routing) eq "dsr" ? 20 : 0}]
run_network
