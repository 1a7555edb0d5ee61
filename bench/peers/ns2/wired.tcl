# Wires: greedy NewReno connections, each with a link of its own, share a drop-tail bottleneck of 50 packets (BQM's figure
# 5.1). Prints Jain's index, the goodput of all, and the share of packets sent again; goodput from each connection's start.
#
#   ns wired.tcl [name value]...
array set opt {connections 8 seed 1 access 10Mb rate 10Mb delay 150ms limit 50 access_limit 50 window 4000 segment 1000
    duration 300 starts 180}
foreach {name value} $argv {
    if {![info exists opt($name)]} { puts stderr "no option $name"; exit 2 }
    set opt($name) $value
}
set ns [new Simulator]
set random [new RNG]
$random seed [expr {$opt(seed) * 7919 + 13}]
Agent/TCP set window_ $opt(window)
Agent/TCP set packetSize_ $opt(segment)
Agent/TCP set minrto_ 0.2
proc wire {from to rate delay limit} {
    global ns
    $ns duplex-link $from $to $rate $delay DropTail
    $ns queue-limit $from $to $limit
}
set router [$ns node]
set server [$ns node]
wire $router $server $opt(rate) $opt(delay) $opt(limit)
for {set i 0} {$i < $opt(connections)} {incr i} {
    set source [$ns node]
    wire $source $router $opt(access) 0ms $opt(access_limit)
    set tcp($i) [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $source $tcp($i)
    $ns attach-agent $server $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    set start($i) [$random uniform 0 $opt(starts)]
    $ns at $start($i) "$ftp start"
}
proc finish {} {
    global opt tcp start
    set sum 0.0
    set squares 0.0
    set again 0
    set sent 0
    for {set i 0} {$i < $opt(connections)} {incr i} {
        set rate [expr {[$tcp($i) set ack_] * $opt(segment) * 8.0 / ($opt(duration) - $start($i))}]
        set sum [expr {$sum + $rate}]
        set squares [expr {$squares + $rate * $rate}]
        incr again [$tcp($i) set nrexmitpack_]
        incr sent [$tcp($i) set ndatapack_]
    }
    puts [format "jain %.3f goodput %.2f Mb/s again %.2f %%" [expr {$sum * $sum / ($opt(connections) * $squares)}] \
        [expr {$sum / 1e6}] [expr {100.0 * $again / $sent}]]
    exit 0
}
$ns at $opt(duration) finish
$ns run
