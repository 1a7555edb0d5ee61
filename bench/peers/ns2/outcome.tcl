# Counts what happened from the trace that ns-2 wrote and prints one JSON object, in the keys of `sluice run --json`.
# Without a trace (`trace none`, for measuring cost) only what the sinks counted.

# Run to the end. Results leave out the warm-up.
proc run_network {} {
    global ns opt flow_names at_warmup
    $ns at $opt(warmup) {
        foreach name $flow_names { set at_warmup($name) [counted $name] }
    }
    $ns at $opt(duration) {
        $ns flush-trace
        close $tracefile
        if {$opt(trace) eq "none"} { report_sinks } else { report_trace }
        exit 0
    }
    $ns run
}

# A flow's packets received and, of TCP, segments sent and sent again, since the start. A TCP sink counts bytes in order.
proc counted {name} {
    global sinks sources flow_payload
    if {![info exists sources($name)]} { return [$sinks($name) set npkts_] }
    set source $sources($name)
    set segment [expr {$flow_payload($name) + [$source set tcpip_base_hdr_size_] + [$source set ts_option_size_]}]
    list [expr {[$sinks($name) set bytes_] / $segment}] [$source set ndatapack_] [$source set nrexmitpack_]
}

proc report_sinks {} {
    global flow_names
    foreach name $flow_names { lappend flows [flow_by_agents $name] }
    print_outcome [list flows "\[[join $flows ", "]\]"]
}

# What the flow's own agents counted after the warm-up.
proc flow_by_agents {name} {
    global opt flow_payload at_warmup
    set seconds [expr {$opt(duration) - $opt(warmup)}]
    foreach key {received sent again} after [counted $name] before $at_warmup($name) {
        if {$after ne ""} { set since($key) [expr {$after - $before}] }
    }
    object name "\"$name\"" received_packets $since(received) \
        goodput_bps [expr {8.0 * $flow_payload($name) * $since(received) / $seconds}] \
        {*}[expr {[info exists since(sent)] ? [list sent_packets $since(sent) retransmits $since(again)] : {}}]
}

proc report_trace {} {
    global opt
    read_trace
    print_outcome [list flows "\[[join [flow_objects] ", "]\]" nodes "\[[join [node_objects] ", "]\]" {*}[totals]]
}

proc print_outcome {members} {
    global opt
    puts [object simulator {"ns-2.35"} seed $opt(seed) simulated_s [expr {$opt(duration) - $opt(warmup)}] {*}$members]
}

# A JSON object of names and values that are JSON already.
proc object {args} {
    foreach {name value} $args { lappend members "\"$name\": $value" }
    return "{[join $members ", "]}"
}

proc flow_objects {} {
    global opt flow_names flow_payload sources sent got delays
    set seconds [expr {$opt(duration) - $opt(warmup)}]
    foreach name $flow_names {
        if {[info exists sources($name)]} {
            lappend objects [flow_by_agents $name]
            continue
        }
        lappend objects [object name "\"$name\"" sent_packets $sent($name) received_packets $got($name) \
            goodput_bps [expr {8.0 * $flow_payload($name) * $got($name) / $seconds}] \
            loss_ratio [expr {$sent($name) ? 1 - double($got($name)) / $sent($name) : 0.0}] \
            delay_s [spread $delays($name)]]
    }
    return $objects
}

proc spread {values} {
    if {![llength $values]} { return [object mean 0.0 p95 0.0 max 0.0] }
    set sorted [lsort -real $values]
    set sum [expr "0.0 + [join $values +]"]
    object mean [expr {$sum / [llength $values]}] p95 [lindex $sorted [expr {int(0.95 * [llength $values])}]] \
        max [lindex $sorted end]
}

proc node_objects {} {
    global node frames
    for {set i 0} {$i < [array size node]} {incr i} {
        set attempts $frames(attempts:$i)
        set delivered $frames(delivered:$i)
        lappend objects [object name "\"n$i\"" mac [object attempts $attempts delivered $delivered \
            collisions [expr {$attempts - $delivered}] retry_drops $frames(dropped:$i) rts_attempts $frames(rts:$i)]]
    }
    return $objects
}

# What AODV sent and what became of packets that it had to drop; nothing without AODV.
proc totals {} {
    global routing
    if {![info exists routing(sent)]} { return {} }
    list totals [object routing_packets $routing(sent) searches $routing(search) repairs $routing(repair) \
        errors $routing(errors) dropped_no_route $routing(NRTE) dropped_link_failure $routing(CBK) \
        dropped_searching [expr {$routing(IFQ) + $routing(TOUT)}] dropped_other $routing(other)]
}

proc read_trace {} {
    global opt node flow_names flow_of frames sent got delays routing
    foreach name $flow_names { array set sent [list $name 0]; array set got [list $name 0]; set delays($name) {} }
    for {set i 0} {$i < [array size node]} {incr i} {
        foreach key {attempts delivered dropped rts} { set frames($key:$i) 0 }
    }
    set in [open $opt(trace)]
    while {[gets $in line] >= 0} {
        if {[lindex $line 0] in {s r D f}} { count_line $line }
    }
    close $in
    file delete $opt(trace)
}

proc count_line {line} {
    global opt
    lassign $line event time node layer reason id type
    set counted [expr {$time >= $opt(warmup)}]
    set node [string trim $node _]
    switch $layer {
        AGT { count_packet $event $time $node $id $line $counted }
        MAC { if {$counted} { count_frame $event $node $reason $type [lindex $line 9] } }
        RTR { if {$counted} { count_routing $event $node $reason $type $line } }
    }
}

# The application's packets by their number; one that arrives twice counts once. TCP's agents count for themselves.
proc count_packet {event time node id line counted} {
    global flow_of sent got delays made
    if {![info exists flow_of([flow_key $line])]} return
    if {$event eq "s"} {
        set made($id) $time
        if {$counted} { incr sent($flow_of([flow_key $line])) }
    } elseif {$event eq "r" && [info exists made($id)]} {
        if {$counted} {
            set flow $flow_of([flow_key $line])
            incr got($flow)
            lappend delays($flow) [expr {$time - $made($id)}]
        }
        unset made($id)
    }
}

# From "[0:0" and "2:0": source and destination node.
proc flow_key {line} {
    set from [lindex [split [string range [lindex $line 13] 1 end] :] 0]
    return $from:[lindex [split [lindex $line 14] :] 0]
}

# Frames sent to one node and their acknowledgements; `to` is the MAC address that the frame goes to.
proc count_frame {event node reason type to} {
    global frames
    switch $event:$type {
        s:ACK - s:CTS {}
        s:RTS { incr frames(rts:$node) }
        r:ACK { incr frames(delivered:$node) }
        default {
            if {$event eq "s" && $to ne "ffffffff"} { incr frames(attempts:$node) }
            if {$event eq "D" && $reason eq "RET" && $type ne "RTS"} { incr frames(dropped:$node) }
        }
    }
}

# AODV packets sent, each hop counted. A request ends in "[originator number]] (REQUEST)": one from a node where no flow
# starts is a local repair, one that another node originated is passed on.
proc count_routing {event node reason type line} {
    global routing flow_of
    if {![info exists routing(sent)]} {
        array set routing {sent 0 search 0 repair 0 errors 0 NRTE 0 CBK 0 IFQ 0 TOUT 0 other 0}
    }
    if {$event eq "D" && $type in {cbr tcp ack}} {
        incr routing([expr {[info exists routing($reason)] ? $reason : "other"}])
    }
    if {$type ne "AODV" || $event ni {s f}} return
    incr routing(sent)
    switch [lindex $line end] {
        (ERROR) { incr routing(errors) }
        (REQUEST) {
            if {$node != [string trim [lindex $line end-2] \[]} return
            incr routing([expr {[array names flow_of $node:*] ne "" ? "search" : "repair"}])
        }
    }
}
