"""Calls the library by ctypes: call.py LIBRARY. Prints what echo.c prints."""

import ctypes
import struct
import sys
from ctypes import POINTER, byref, c_char_p, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

NEVER = 2**64 - 1


class Delivery(ctypes.Structure):
    _fields_ = [
        ("at_ns", c_uint64),
        ("sent_ns", c_uint64),
        ("source", c_char_p),
        ("destination", c_char_p),
        ("bytes", POINTER(c_uint8)),
        ("length", c_size_t),
        ("tos", c_uint8),
        ("routers", c_uint8),
    ]


def library(path):
    """The library, with the types of its functions."""
    air = ctypes.CDLL(path)
    air.sluice_open.restype = c_void_p
    air.sluice_open.argtypes = [c_uint32, c_char_p, c_uint64, c_char_p]
    air.sluice_node.restype = air.sluice_address.restype = air.sluice_error.restype = c_char_p
    air.sluice_node.argtypes = [c_void_p, c_size_t]
    air.sluice_address.argtypes = [c_void_p, c_size_t, c_uint32]
    air.sluice_send.argtypes = [c_void_p, c_uint64, c_char_p, c_char_p, c_char_p, c_size_t, c_uint8]
    air.sluice_poll.argtypes = [c_void_p, c_uint64, POINTER(Delivery)]
    air.sluice_end.restype = c_uint64
    air.sluice_end.argtypes = air.sluice_close.argtypes = [c_void_p]
    return air


def main():
    air = library(sys.argv[1])
    one = air.sluice_open(air.sluice_version(), b"home", 1, b"duration = 2 s")
    assert one, air.sluice_error()
    assert not air.sluice_open(99, b"home", 1, None) and b"version 1" in air.sluice_error()
    client, server = air.sluice_node(one, 0), air.sluice_node(one, 1)
    where = [air.sluice_address(one, place, 4).decode() for place in (0, 1)]
    print(f"{client.decode()} {where[0]} asks {server.decode()} {where[1]}")
    times, asked, ask, got = [], 0, 0, Delivery()
    while True:
        until = ask if ask < air.sluice_end(one) else NEVER
        arrived = air.sluice_poll(one, until, byref(got))
        assert arrived >= 0, air.sluice_error()
        if not arrived and until == NEVER:
            break
        if not arrived:
            assert air.sluice_send(one, ask, client, server, struct.pack("=Q", ask), 8, 0) == 0, air.sluice_error()
            asked, ask = asked + 1, ask + 20_000_000
            continue
        payload = bytes(got.bytes[: got.length])
        if got.destination == server:
            assert air.sluice_send(one, got.at_ns, server, client, payload, len(payload), 0) == 0, air.sluice_error()
        else:
            times.append(got.at_ns - struct.unpack("=Q", payload)[0])
    mean, longest = sum(times) / len(times) / 1e6, max(times) / 1e6
    print(f"{asked} asked, {len(times)} answered, mean {mean:.3f} ms, longest {longest:.3f} ms")
    air.sluice_close(one)


if __name__ == "__main__":
    main()
