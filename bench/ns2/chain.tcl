# The ADTH chain in ns-2.35: nodes 0, 1, 2 in a line 30 m apart, AODV, drop-front queues of 1000 packets, constant bit
# rate both ways (0 -> 2 from 0 s, 2 -> 0 from 25 s, halved at 50 s and 75 s, end at 100 s). One JSON line at the end.
#
#   ns chain.tcl [name value]...      for the names see the array below

array set opt {
    seed 1       drop front    payload 1000    rate 1.8e6      limit 1000      duration 100
    decode 42    sense 84      retries 7       basic 1Mb       trace chain.tr
}
# decode, sense: distances in metres within which a frame is received or at least noticed
array set opt $argv

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
$topo load_flatgrid 200 200
create-god 3
$ns node-config -adhocRouting AODV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue \
    -ifqLen $opt(limit) -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround \
    -phyType Phy/WirelessPhy -channel [new Channel/WirelessChannel] -topoInstance $topo \
    -agentTrace ON -routerTrace OFF -macTrace ON -movementTrace OFF
for {set i 0} {$i < 3} {incr i} {
    set node($i) [$ns node]
    $node($i) set X_ [expr {10.0 + 30.0 * $i}]
    $node($i) set Y_ 10.0
    $node($i) set Z_ 0.0
}

# Sources in step would collide in a fixed pattern: the phase is the seed's, within one gap.
set phase [new RandomVariable/Uniform]
$phase set min_ 0.0
$phase set max_ [expr {8.0 * $opt(payload) / $opt(rate)}]
foreach {source start half} {0 0.0 50.0 2 25.0 75.0} {
    set udp [new Agent/UDP]
    $udp set packetSize_ 2000
    $ns attach-agent $node($source) $udp
    set sink [new Agent/Null]
    $ns attach-agent $node([expr {2 - $source}]) $sink
    $ns connect $udp $sink
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $opt(payload)
    $cbr set rate_ $opt(rate)
    $cbr set random_ 0
    $cbr attach-agent $udp
    $ns at [expr {$start + [$phase value]}] "$cbr start"
    $ns at $half "$cbr set rate_ [expr {$opt(rate) / 2}]"
}

# Counts from the trace: the application's packets by their number, data frames by node.
proc report {} {
    global opt
    foreach node {0 1 2} { array set frames [list sent$node 0 lost$node 0] }
    foreach node {0 2} { array set flow [list sent$node 0 got$node 0 sum$node 0.0 max$node 0.0] }
    set in [open $opt(trace)]
    while {[gets $in line] >= 0} {
        lassign $line event time node layer reason id type
        if {$type ne "cbr"} continue
        set node [string trim $node _]
        if {$layer eq "MAC" && $event eq "s"} {
            incr frames(sent$node)
        } elseif {$layer eq "MAC" && $event eq "D" && $reason eq "RET"} {
            incr frames(lost$node)
        } elseif {$layer eq "AGT" && $event eq "s"} {
            set made($id) $time
            incr flow(sent$node)
        } elseif {$layer eq "AGT" && $event eq "r"} {
            set source [expr {2 - $node}]
            set delay [expr {$time - $made($id)}]
            incr flow(got$source)
            set flow(sum$source) [expr {$flow(sum$source) + $delay}]
            if {$delay > $flow(max$source)} { set flow(max$source) $delay }
        }
    }
    close $in
    file delete $opt(trace)
    foreach {node name} {0 forward 2 backward} {
        lappend flows [format {{"name": "%s", "sent_packets": %d, "received_packets": %d, "goodput_bps": %.0f,\
            "loss_ratio": %.6f, "delay_s": {"mean": %.6f, "max": %.6f}}} $name $flow(sent$node) $flow(got$node) \
            [expr {8.0 * $opt(payload) * $flow(got$node) / $opt(duration)}] \
            [expr {1 - double($flow(got$node)) / $flow(sent$node)}] \
            [expr {$flow(sum$node) / $flow(got$node)}] $flow(max$node)]
    }
    foreach node {0 1 2} {
        lappend nodes "{\"name\": \"n$node\", \"mac\": {\"attempts\": $frames(sent$node),\
            \"retry_drops\": $frames(lost$node)}}"
    }
    puts "{\"simulator\": \"ns-2.35\", \"seed\": $opt(seed), \"simulated_s\": $opt(duration), \"flows\":\
        \[[join $flows {, }]\], \"nodes\": \[[join $nodes {, }]\]}"
}
$ns at $opt(duration) {
    $ns flush-trace
    close $trace
    report
    exit 0
}
$ns run
