#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A disk that holds its reads for as long as it is told: the server behind /dev/nbd0, in the guest.

Input: device, a file's name. While that file exists requests are kept, once it is gone they are
answered (reads with zeroes). Output: none; it ends when the device is cleared or it is killed.
"""
import fcntl
import os
import select
import signal
import socket
import struct
import sys

# From linux/nbd.h.
SET_SOCK, SET_BLKSIZE, DO_IT, CLEAR_SOCK, SET_SIZE_BLOCKS = 0xAB00, 0xAB01, 0xAB03, 0xAB04, 0xAB07
REQUEST_MAGIC, REPLY_MAGIC = 0x25609513, 0x67446698
READ, WRITE, DISCONNECT = 0, 1, 2
REQUEST = struct.Struct(">IIQQI")
SIZE_BYTES = 64 << 20


def connect(device, ours):
    """A child that lends the kernel its end of the connection and sleeps in it."""
    device_fd = os.open(device, os.O_RDWR)
    fcntl.ioctl(device_fd, CLEAR_SOCK)
    fcntl.ioctl(device_fd, SET_BLKSIZE, 4096)
    fcntl.ioctl(device_fd, SET_SIZE_BLOCKS, SIZE_BYTES // 4096)
    kernels = socket.create_connection(ours.getsockname())
    fcntl.ioctl(device_fd, SET_SOCK, kernels.fileno())
    if os.fork() == 0:
        ours.close()
        try:
            fcntl.ioctl(device_fd, DO_IT)
        finally:
            os._exit(0)
    os.close(device_fd)
    kernels.close()


def take(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            sys.exit(0)
        data += piece
    return data


def serve(connection, hold):
    """One request after the other, each answered at once or kept."""
    kept = []
    while True:
        ready, _, _ = select.select([connection], [], [], 0.05)
        if ready:
            magic, kind, handle, _, length = REQUEST.unpack(take(connection, REQUEST.size))
            assert magic == REQUEST_MAGIC
            kind &= 0xFFFF
            if kind == DISCONNECT:
                return
            if kind == WRITE:
                take(connection, length)
            kept.append((handle, length if kind == READ else 0))
        if os.path.exists(hold):
            continue
        for handle, length in kept:
            connection.sendall(struct.pack(">IIQ", REPLY_MAGIC, 0, handle) + bytes(length))
        kept.clear()


def main():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.create_server(("127.0.0.1", 0))
    connect(sys.argv[1], listener)
    connection, _ = listener.accept()
    serve(connection, sys.argv[2])


if __name__ == "__main__":
    main()
