# What the programs share: options, radio and medium access of ns-2.35, nodes, sources. `outcome.tcl` counts and prints.
#
# Sizes: ns-2 counts no UDP header and no LLC/SNAP, a MAC header of 30 B (the fourth address is always there), 4 B of
# check sum, and 20 B of IP only where AODV adds them. So that a frame is as long as in the other simulators, sources
# make packets that are longer than the payload by what is missing: see `packet_size`.

# Lay `name value ...` of the command line over the defaults, into the global array `opt`.
proc options {defaults} {
    global opt argv
    array set opt [concat {seed 1 trace - warmup 0} $defaults]
    foreach {name value} $argv {
        if {![info exists opt($name)]} {
            puts stderr "no option '$name'; there are: [lsort [array names opt]]"
            exit 2
        }
        set opt($name) $value
    }
    if {$opt(trace) eq "-"} { set opt(trace) /tmp/ns2-[pid].tr }
    ns-random $opt(seed)
}

# 802.11b at 11 Mb/s with a long preamble, or OFDM ("a") at 54 Mb/s. ns-2 draws a back-off from 0 to cw - 1: `cwmin`
# (default: what the standard calls CWmin + 1) makes the first window the standard's.
proc set_mac {phy data basic {cwmin ""}} {
    Mac/802_11 set dataRate_ $data
    Mac/802_11 set basicRate_ $basic
    Mac/802_11 set RTSThreshold_ 3000
    Mac/802_11 set CWMin_ [expr {$cwmin ne "" ? $cwmin : $phy eq "a" ? 16 : 32}]
    Mac/802_11 set CWMax_ [expr {$cwmin ne "" && $cwmin % 2 ? 1023 : 1024}]
    if {$phy eq "a"} {
        # ns-2 knows no symbols. 152 bits of preamble at 6 Mb/s make an ACK 44 us long, as 20 us and 6 symbols are, and
        # 1044 B behind them at 54 Mb/s last 180 us, as 20 us and the 40 symbols of 1064 B do.
        Mac/802_11 set SlotTime_ 9e-6
        Mac/802_11 set SIFS_ 16e-6
        Mac/802_11 set PreambleLength_ 120
        Mac/802_11 set PLCPHeaderLength_ 32
        Mac/802_11 set PLCPDataRate_ 6e6
    }
}

# Thresholds as distances in metres; `capture` in dB is how far the frame being received must lie above one that begins
# later. `never` makes all powers equal in effect: whatever overlaps is lost.
proc set_radio {frequency decode sense capture} {
    Phy/WirelessPhy set freq_ $frequency
    Phy/WirelessPhy set L_ 1.0
    Phy/WirelessPhy set Pt_ 0.0316228 ;# 15 dBm
    Phy/WirelessPhy set RXThresh_ [power_at $frequency $decode]
    Phy/WirelessPhy set CSThresh_ [power_at $frequency $sense]
    Phy/WirelessPhy set CPThresh_ [expr {$capture eq "never" ? 1e30 : pow(10, $capture / 10.0)}]
}

# Received power by two-ray ground with antennas at 1.5 m: free space up to the crossover distance, then the fourth power.
proc power_at {frequency metres} {
    set wave [expr {3e8 / $frequency}]
    if {$metres > 4 * acos(-1) * pow(1.5, 2) / $wave} {
        return [expr {0.0316228 * pow(1.5, 4) / pow($metres, 4)}]
    }
    expr {0.0316228 * pow($wave / (4 * acos(-1) * $metres), 2)}
}

# `count` nodes with queues of `limit` packets; without a trace where `opt(trace)` is "none".
proc make_nodes {count routing queue limit propagation width height} {
    global ns opt node tracefile topo
    set ns [new Simulator]
    set traced [expr {$opt(trace) eq "none" ? "OFF" : "ON"}]
    set tracefile [open [expr {$traced ? $opt(trace) : "/dev/null"}] w]
    $ns trace-all $tracefile
    set topo [new Topography]
    $topo load_flatgrid $width $height
    create-god $count
    $ns node-config -adhocRouting $routing -llType LL -macType Mac/802_11 -ifqType $queue -ifqLen $limit \
        -antType Antenna/OmniAntenna -propType Propagation/$propagation -phyType Phy/WirelessPhy \
        -channel [new Channel/WirelessChannel] -topoInstance $topo -agentTrace $traced -macTrace $traced \
        -routerTrace [expr {$routing eq "AODV" ? $traced : "OFF"}] -movementTrace OFF
    for {set i 0} {$i < $count} {incr i} {
        set node($i) [$ns node]
        $node($i) random-motion 0
    }
}

proc place {i x y} {
    global node
    $node($i) set X_ $x
    $node($i) set Y_ $y
    $node($i) set Z_ 0.0
}

# What a source must call a packet's size so that `payload` bytes are on the air as long as elsewhere.
proc packet_size {payload phy routing} {
    # 8 UDP, 20 IP, 8 LLC, 24 MAC and 4 check sum elsewhere; 34 here, and 20 more with AODV and DSR.
    set size [expr {$payload + 64 - 34 - ($routing in {AODV DSR} ? 20 : 0)}]
    expr {$phy eq "a" ? $size - 20 : $size}
}

# A flow of constant bit rate from a node to another; `phase` is the longest random delay of its start, in seconds.
proc add_cbr {name from to payload size rate start phase} {
    global ns node flow_names flow_of flow_payload sinks last_agent
    set udp [new Agent/UDP]
    $udp set packetSize_ 3000
    $ns attach-agent $node($from) $udp
    set sink [new Agent/LossMonitor]
    $ns attach-agent $node($to) $sink
    $ns connect $udp $sink
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $size
    $cbr set rate_ [expr {$rate * $size / $payload}]
    $cbr set random_ 0
    $cbr attach-agent $udp
    $ns at [expr {$start + [uniform $phase]}] "$cbr start"
    lappend flow_names $name
    set flow_of($from:$to) $name
    set flow_payload($name) $payload
    set sinks($name) $sink
    set last_agent $udp
    return $cbr
}

# A station that always has a packet: four times its `share` of the channel (payload bit/s), into a queue that is full
# before the warm-up ends. One packet alone, at a time of its own, has asked for the receiver's address before: ns-2
# sends an ARP request for every packet until an answer comes, and fifty stations at once drown the answers.
proc add_saturated {name from to payload size share} {
    global ns node last_agent
    set start [expr {0.005 * [array size node]}]
    add_cbr $name $from $to $payload $size [expr {4.0 * $share}] $start [expr {2.0 * $payload / $share}]
    $ns at [expr {0.005 * $from}] "$last_agent send 100"
}

# A greedy TCP connection from a node to another, with the parameters of README.md: `sack` is that of network (j), `newreno`
# that of network (k). On the air 20 B of TCP, 20 B of IP, 8 B of LLC, 24 B of MAC and 4 B of check sum come on top, and
# with `sack` 12 B of timestamps; ns-2 counts 34 of these itself, with AODV too, since its AODV adds no IP header to TCP.
proc add_download {name from to recovery segment {counted 0}} {
    global ns node flow_names flow_payload sinks sources
    set sack [expr {$recovery eq "sack"}]
    Agent/TCP set packetSize_ $segment
    Agent/TCP set tcpip_base_hdr_size_ [expr {42 - $counted}]
    Agent/TCP set timestamps_ $sack
    Agent/TCP set ts_option_size_ [expr {$sack ? 12 : 0}]
    Agent/TCP set windowInit_ [expr {$sack ? 10 : 2}]
    # One segment a round trip: ns-2 counts acknowledgements, of which there is one for two segments if they are delayed.
    Agent/TCP set increase_num_ [expr {$sack ? 2.0 : 1.0}]
    Agent/TCP set window_ [expr {4000000 / $segment}]
    Agent/TCP set minrto_ [expr {$sack ? 1.0 : 0.2}]
    Agent/TCP set rtxcur_init_ 1.0
    Agent/TCP set tcpTick_ 0.001
    Agent/TCPSink set packetSize_ [expr {($sack ? 54 : 42) - $counted}]
    Agent/TCPSink/Sack1/DelAck set interval_ 200ms
    set source [new Agent/TCP/[expr {$sack ? "Sack1" : "Newreno"}]]
    $ns attach-agent $node($from) $source
    set sink [new Agent/TCPSink[expr {$sack ? "/Sack1/DelAck" : ""}]]
    $ns attach-agent $node($to) $sink
    $ns connect $source $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $source
    $ns at 0.0 "$ftp start"
    lappend flow_names $name
    set flow_payload($name) $segment
    set sinks($name) $sink
    set sources($name) $source
}

proc uniform {to} {
    global uniform
    if {![info exists uniform]} {
        set uniform [new RandomVariable/Uniform]
        $uniform set min_ 0.0
    }
    $uniform set max_ $to
    $uniform value
}
