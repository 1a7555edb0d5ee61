"""Measures TCP: `transfer.py listen`, then elsewhere `transfer.py get|put HOST SECONDS`."""

import socket
import sys
import threading
import time

PORT, CHUNK = 5001, bytes(1 << 16)


def fill(connection, seconds=None):
    end = seconds and time.monotonic() + seconds
    while not end or time.monotonic() < end:
        connection.sendall(CHUNK)


def drain(connection, seconds=None):
    end, got = seconds and time.monotonic() + seconds, 0
    while (not end or time.monotonic() < end) and (chunk := connection.recv(1 << 16)):
        got += len(chunk)
    return got


def answer(connection):
    """The first byte says which way; what a client puts is counted here, and the count is the answer."""
    try:
        if connection.recv(1) == b"g":
            fill(connection)
        else:
            connection.sendall(str(drain(connection)).encode())
    except OSError:
        pass


def main(what, host="", seconds="10"):
    if what == "listen":
        listener = socket.create_server(("", PORT))
        while True:
            threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
    while True:
        try:
            connection = socket.create_connection((host, PORT))
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    connection.sendall(what[:1].encode())
    begin = time.monotonic()
    if what == "get":
        got = drain(connection, float(seconds))
    else:
        fill(connection, float(seconds))
        connection.shutdown(socket.SHUT_WR)
        got = int(connection.recv(64))
    print(f"{what}: {got} B, {got * 8e-6 / (time.monotonic() - begin):.2f} Mb/s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
