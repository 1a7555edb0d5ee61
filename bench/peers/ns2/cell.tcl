# Stations around one receiver (node 0), all in range, equal power, saturated: networks (a) and (b).
#
#   ns cell.tcl [name value]...      phy: b or a; slow: the last station sends at 1 Mb/s
source [file dirname [info script]]/radio.tcl
source [file dirname [info script]]/outcome.tcl

options {phy b stations 10 payload 1000 slow 0 limit 50 duration 11 warmup 1 cwmin "" radius 1.0}
if {$opt(phy) eq "a"} { set_mac a 54Mb 6Mb $opt(cwmin) } else { set_mac b 11Mb 1Mb $opt(cwmin) }
set_radio 2.412e9 100 100 never
make_nodes [expr {$opt(stations) + 1}] DumbAgent Queue/DropTail $opt(limit) TwoRayGround 100 100

# On a circle, slots of stations stay in step after a frame of the receiver, as it is equally far from all.
place 0 50.0 50.0
set size [packet_size $opt(payload) $opt(phy) DumbAgent]
for {set i 1} {$i <= $opt(stations)} {incr i} {
    set angle [expr {2 * acos(-1) * $i / $opt(stations)}]
    place $i [expr {50 + $opt(radius) * cos($angle)}] [expr {50 + $opt(radius) * sin($angle)}]
    add_saturated up$i $i 0 $opt(payload) $size [expr {($opt(phy) eq "a" ? 26e6 : 5.5e6) / $opt(stations)}]
}
if {$opt(slow)} { [$node($opt(stations)) set mac_(0)] set dataRate_ 1Mb }
run_network
