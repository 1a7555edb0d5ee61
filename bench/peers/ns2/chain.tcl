# The ADTH chain in ns-2.35: nodes 0 to `hops` in a line 30 m apart, AODV, drop-front queues of 1000 packets, constant
# bit rate both ways (first to last node from 0 s, back from 25 s, halved at 50 s and 75 s, end at 100 s). One JSON line
# at the end, with `detail 1` also what AODV did and each flow's packets per second.
#
#   ns chain.tcl [name value]...      for the names see the array below

array set opt {
    seed 1       drop front    payload 1000    rate 1.8e6      limit 1000      duration 100
    decode 42    sense 84      retries 7       basic 1Mb       trace chain.tr
    hops 2       detail 0
}
# decode, sense: distances in metres within which a frame is received or at least noticed
array set opt $argv
set last $opt(hops)

set ns [new Simulator]
ns-random $opt(seed)

# Powers at the thresholds' distances by Friis, which two-ray ground equals at distances of the chain.
Phy/WirelessPhy set freq_ 2.412e9
Phy/WirelessPhy set L_ 1.0
Phy/WirelessPhy set Pt_ 0.0316228 ;# 15 dBm
proc power_at {metres} {
    expr {0.0316228 * pow(3e8 / 2.412e9 / (4 * acos(-1) * $metres), 2)}
}
Phy/WirelessPhy set RXThresh_ [power_at $opt(decode)]
Phy/WirelessPhy set CSThresh_ [power_at $opt(sense)]
Phy/WirelessPhy set CPThresh_ 10.0
Mac/802_11 set dataRate_ 11Mb
Mac/802_11 set basicRate_ $opt(basic)
Mac/802_11 set PLCPDataRate_ 1.0e6
Mac/802_11 set RTSThreshold_ 3000
Mac/802_11 set ShortRetryLimit_ $opt(retries)
Queue/DropTail set drop_front_ [string equal $opt(drop) front]

set trace [open $opt(trace) w]
$ns trace-all $trace
set topo [new Topography]
$topo load_flatgrid [expr {140 + 30 * $last}] 200
create-god [expr {$last + 1}]
$ns node-config -adhocRouting AODV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue \
    -ifqLen $opt(limit) -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround \
    -phyType Phy/WirelessPhy -channel [new Channel/WirelessChannel] -topoInstance $topo \
    -agentTrace ON -routerTrace [expr {$opt(detail) ? "ON" : "OFF"}] -macTrace ON -movementTrace OFF
for {set i 0} {$i <= $last} {incr i} {
    set node($i) [$ns node]
    $node($i) set X_ [expr {10.0 + 30.0 * $i}]
    $node($i) set Y_ 10.0
    $node($i) set Z_ 0.0
}

# Sources in step would collide in a fixed pattern: the phase is the seed's, within one gap.
set phase [new RandomVariable/Uniform]
$phase set min_ 0.0
$phase set max_ [expr {8.0 * $opt(payload) / $opt(rate)}]
foreach {source start half} [list 0 0.0 50.0 $last 25.0 75.0] {
    set udp [new Agent/UDP]
    $udp set packetSize_ 2000
    $ns attach-agent $node($source) $udp
    set sink [new Agent/Null]
    $ns attach-agent $node([expr {$last - $source}]) $sink
    $ns connect $udp $sink
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $opt(payload)
    $cbr set rate_ $opt(rate)
    $cbr set random_ 0
    $cbr attach-agent $udp
    $ns at [expr {$start + [$phase value]}] "$cbr start"
    $ns at $half "$cbr set rate_ [expr {$opt(rate) / 2}]"
}

# Counts from the trace: the application's packets by their number and source, data frames by node, and, only with
# `detail 1`, the routing agents' doings.
proc count {} {
    global opt last flow frames routing made
    for {set node 0} {$node <= $last} {incr node} { array set frames [list sent$node 0 lost$node 0] }
    foreach node [list 0 $last] { array set flow [list sent$node 0 got$node 0 sum$node 0.0 max$node 0.0] }
    array set routing {search 0 repair 0 errors 0 NRTE 0 CBK 0 IFQ 0 TOUT 0 other 0}
    set in [open $opt(trace)]
    while {[gets $in line] >= 0} {
        lassign $line event time node layer reason id type
        set node [string trim $node _]
        switch $type {
            cbr { count_data $event $time $node $layer $reason $id }
            AODV { if {"$layer:$event" eq "RTR:s"} { count_routing $node $line } }
        }
    }
    close $in
    file delete $opt(trace)
}

proc count_data {event time node layer reason id} {
    global last flow frames routing made
    switch $layer:$event {
        MAC:s { incr frames(sent$node) }
        MAC:D { if {$reason eq "RET"} { incr frames(lost$node) } }
        RTR:D { incr routing([expr {[info exists routing($reason)] ? $reason : "other"}]) }
        AGT:s {
            set made($id) $time
            incr flow(sent$node)
        }
        AGT:r {
            set source [expr {$last - $node}]
            set delay [expr {$time - $made($id)}]
            incr flow(got$source)
            incr flow(second$source:[expr {int($time)}])
            set flow(sum$source) [expr {$flow(sum$source) + $delay}]
            if {$delay > $flow(max$source)} { set flow(max$source) $delay }
        }
    }
}

# A request ends in "[originator sequence-number]] (REQUEST)". One that starts in the middle of the chain is a local
# repair, as no flow starts there; one that another node originated is passed on.
proc count_routing {node line} {
    global last routing
    switch [lindex $line end] {
        (ERROR) { incr routing(errors) }
        (REQUEST) {
            if {$node != [string trim [lindex $line end-2] \[]} return
            incr routing([expr {$node == 0 || $node == $last ? "search" : "repair"}])
        }
    }
}

proc report {} {
    global opt last flow frames routing
    foreach {node name} [list 0 forward $last backward] {
        set got $flow(got$node)
        lappend flows [format {{"name": "%s", "sent_packets": %d, "received_packets": %d, "goodput_bps": %.0f,\
            "loss_ratio": %.6f, "delay_s": {"mean": %.6f, "max": %.6f}%s}} $name $flow(sent$node) $got \
            [expr {8.0 * $opt(payload) * $got / $opt(duration)}] [expr {1 - double($got) / $flow(sent$node)}] \
            [expr {$got ? $flow(sum$node) / $got : 0.0}] $flow(max$node) [per_second $node]]
    }
    for {set node 0} {$node <= $last} {incr node} {
        lappend nodes "{\"name\": \"n$node\", \"mac\": {\"attempts\": $frames(sent$node),\
            \"retry_drops\": $frames(lost$node)}}"
    }
    set detail ""
    if {$opt(detail)} {
        set detail ", \"routing\": {\"searches\": $routing(search), \"repairs\": $routing(repair),\
            \"errors\": $routing(errors), \"dropped_no_route\": $routing(NRTE), \"dropped_link_failure\": $routing(CBK),\
            \"dropped_searching\": [expr {$routing(IFQ) + $routing(TOUT)}], \"dropped_other\": $routing(other)}"
    }
    puts "{\"simulator\": \"ns-2.35\", \"seed\": $opt(seed), \"simulated_s\": $opt(duration), \"flows\":\
        \[[join $flows {, }]\], \"nodes\": \[[join $nodes {, }]\]$detail}"
}

# The packets that arrived in each second, as a member for the flow's JSON object.
proc per_second {node} {
    global opt flow
    if {!$opt(detail)} { return "" }
    for {set second 0} {$second < $opt(duration)} {incr second} {
        set key second$node:$second
        lappend counts [expr {[info exists flow($key)] ? $flow($key) : 0}]
    }
    return ", \"received_per_s\": \[[join $counts {, }]\]"
}

$ns at $opt(duration) {
    $ns flush-trace
    close $trace
    count
    report
    exit 0
}
$ns run
