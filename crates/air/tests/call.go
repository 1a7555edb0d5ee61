// Calls the library by cgo. Prints what echo.c prints.
package main

/*
#include <stdlib.h>
#include <sluice.h>
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"
)

func check(failed bool) {
	if failed {
		fmt.Fprintln(os.Stderr, C.GoString(C.sluice_error()))
		os.Exit(1)
	}
}

func main() {
	scenario, settings := C.CString("home"), C.CString("duration = 2 s")
	defer C.free(unsafe.Pointer(scenario))
	defer C.free(unsafe.Pointer(settings))
	air := C.sluice_open(C.SLUICE_VERSION, scenario, 1, settings)
	check(air == nil)
	defer C.sluice_close(air)
	client, server := C.sluice_node(air, 0), C.sluice_node(air, 1)
	where := func(place C.size_t) string { return C.GoString(C.sluice_address(air, place, 4)) }
	fmt.Printf("%s %s asks %s %s\n", C.GoString(client), where(0), C.GoString(server), where(1))
	send := func(at C.uint64_t, from, to *C.char, payload []byte) {
		check(C.sluice_send(air, at, from, to, (*C.uint8_t)(&payload[0]), C.size_t(len(payload)), 0) < 0)
	}
	var asked, answered int
	var ask, sum, longest uint64
	for {
		until := C.uint64_t(C.SLUICE_NEVER)
		if ask < uint64(C.sluice_end(air)) {
			until = C.uint64_t(ask)
		}
		var got C.sluice_delivery
		arrived := C.sluice_poll(air, until, &got)
		check(arrived < 0)
		if arrived == 0 && until == C.SLUICE_NEVER {
			break
		}
		if arrived == 0 {
			send(until, client, server, binary.NativeEndian.AppendUint64(nil, ask))
			asked, ask = asked+1, ask+20_000_000
			continue
		}
		payload := C.GoBytes(unsafe.Pointer(got.bytes), C.int(got.length))
		if got.to == server {
			send(got.at_ns, server, client, payload)
		} else {
			took := uint64(got.at_ns) - binary.NativeEndian.Uint64(payload)
			answered, sum, longest = answered+1, sum+took, max(longest, took)
		}
	}
	fmt.Printf("%d asked, %d answered, mean %.3f ms, longest %.3f ms\n", asked, answered,
		float64(sum)/float64(answered)/1e6, float64(longest)/1e6)
}
