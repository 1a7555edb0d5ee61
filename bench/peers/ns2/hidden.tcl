# Two stations that do not sense each other, saturated, and the receiver between them (node 0): network (c).
#
#   ns hidden.tcl [name value]...      rts: 1 announces every data frame
source [file dirname [info script]]/radio.tcl
source [file dirname [info script]]/outcome.tcl

options {rts 0 payload 1000 limit 50 duration 31 warmup 1 cwmin ""}
set_mac b 11Mb 1Mb $opt(cwmin)
if {$opt(rts)} { Mac/802_11 set RTSThreshold_ 0 }
set_radio 2.412e9 50 60 never
make_nodes 3 DumbAgent Queue/DropTail $opt(limit) TwoRayGround 200 100
place 0 90.0 50.0
place 1 50.0 50.0
place 2 130.0 50.0
set size [packet_size $opt(payload) b DumbAgent]
foreach station {1 2} { add_saturated up$station $station 0 $opt(payload) $size 2e6 }
run_network
