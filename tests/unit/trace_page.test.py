#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# A second reader of traces, written from blktag-trace(5) alone: holds the page against the writer. Input: the build
# folder (tracegen in it). Output: exit status 0 where every sum is what tracegen says it wrote.
"""Usage: trace_page.test.py BUILD_DIR"""
import ctypes
import json
import os
import struct
import subprocess
import sys
import tempfile

MARKER = bytes.fromhex("b1424c4b5441470d")
END_MARKER = bytes.fromhex("b1454e445441470a")
MODULO = (1 << 64) - 1
KIND_IO, KIND_WAIT, BLOCK_TOPOLOGY, BLOCK_LOST = 2, 4, 256, 257

XXHASH = ctypes.CDLL("libxxhash.so.0")
XXHASH.XXH3_64bits_withSeed.restype = ctypes.c_uint64
XXHASH.XXH3_64bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_getFrameContentSize.restype = ctypes.c_uint64
ZSTD.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def xxh3(data, seed=0):
    return XXHASH.XXH3_64bits_withSeed(data, len(data), seed)


def unzstd(frame):
    size = ZSTD.ZSTD_getFrameContentSize(frame, len(frame))
    out = ctypes.create_string_buffer(size)
    assert ZSTD.ZSTD_decompress(out, size, frame, len(frame)) == size
    return out.raw


class Bytes:
    """A piece of the file that is used up from its start."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        piece = self.data[self.at:self.at + size]
        assert len(piece) == size, "cut"
        self.at += size
        return piece

    def unpack(self, fmt):
        return struct.unpack(fmt, self.take(struct.calcsize(fmt)))

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def __bool__(self):
        return self.at < len(self.data)


def plane(head, body, count):
    mode = head.take(1)[0]
    if mode == 0:
        return bytes(count)
    if mode == 1:
        return head.take(count)
    if mode == 2:
        return body.take(count)
    if mode == 3:
        return unzstd(body.take(head.unpack("<I")[0]))
    bits = mode - 15
    values = []
    for _ in range((count + 7) // 8):
        group = int.from_bytes(body.take(bits), "little")
        values += [group >> (i * bits) & ((1 << bits) - 1) for i in range(8)]
    return values[:count]


def plane_list(head, body, shift):
    count = head.varint()
    values = [0] * count
    for number in range(head.take(1)[0]):
        for i, byte in enumerate(plane(head, body, count)):
            values[i] |= byte << (8 * number)
    return [value << shift & MODULO for value in values]


def columns(head, body):
    """{id: (encoding, values or the constant)}"""
    found = {}
    while head:
        column, encoding, shift = head.unpack("<HBB")
        if encoding == 0:
            found[column] = ("constant", head.varint())
        elif encoding == 1:
            found[column] = ("planes", plane_list(head, body, shift))
        elif encoding == 2:
            value, values = head.varint(), []
            for difference in plane_list(head, body, shift):
                value = (value + difference) & MODULO
                values.append(value)
            found[column] = ("planes", values)
        elif encoding == 3:
            found[column] = ("dictionary", [head.varint() for _ in range(head.varint())])
        elif encoding == 4:
            found[column] = ("stream", plane_list(head, body, shift))
        else:
            raise AssertionError(f"encoding {encoding}")
    return found


def column(found, number, count):
    encoding, values = found.get(number, ("constant", 0))
    if encoding == "constant":
        return [values] * count
    if encoding == "dictionary":
        return [values[index] for index in column(found, 2, count)]
    return values


def sectors(found, count):
    encoding, distances = found[5]
    if encoding != "stream":
        return column(found, 5, count)
    index, size = column(found, 2, count), column(found, 6, count)
    kind, start = found[3]
    end = list(start) if kind == "dictionary" else [start] * (max(index) + 1)
    out = []
    for i in range(count):
        distance = distances[i]
        step = distance >> 1 if distance % 2 == 0 else -(distance >> 1) - 1
        out.append((end[index[i]] + step) & MODULO)
        end[index[i]] = out[i] + (size[i] >> 9)
    return out


def add_io(found, count, sums):
    times = [column(found, number, count) for number in (1, 18, 19, 20)]
    present = column(found, 17, count)
    waits = iter(column(found, 21, sum(p >> 3 & 1 for p in present)) if 21 in found else [])
    sums["bytes"] += sum(column(found, 6, count))
    sums["sector_sum"] += sum(sectors(found, count))
    sums["completed"] += count
    for i, (put, to_put, to_complete, _) in enumerate(zip(*times)):
        complete = put - to_put if present[i] & 1 else put
        issue = complete - to_complete if present[i] & 2 else complete
        sums["device_ns"] += complete - issue
        sums["io_wait_ns"] += next(waits) if present[i] & 8 else 0


def add_chunk(payload, sums):
    header = struct.unpack_from("<HHIIIQQQQQQII", payload)
    size, flags, records, stored, head_size, body_size = *header[:5], header[11]
    body = Bytes(payload[size:size + body_size])
    head = payload[size + body_size:size + body_size + stored]
    head = Bytes(unzstd(head) if flags & 1 else head)
    assert len(head.data) == head_size
    counted = 0
    while head:
        kind, _, count, head_bytes, body_bytes = head.unpack("<HHIII")
        block_head, block_body = Bytes(head.take(head_bytes)), Bytes(body.take(body_bytes))
        if kind == BLOCK_LOST:
            continue
        counted += count
        if kind == BLOCK_TOPOLOGY:
            continue
        found = columns(block_head, block_body)
        assert not block_body, "bytes that belong to no column"
        if kind == KIND_IO:
            add_io(found, count, sums)
        elif kind == KIND_WAIT:
            sums["submit_waits"] += count
            sums["submit_wait_ns"] += sum(column(found, 3, count))
    assert counted == records


def read(data):
    names = ("bytes", "completed", "device_ns", "io_wait_ns", "sector_sum", "submit_waits", "submit_wait_ns")
    sums = dict.fromkeys(names, 0)
    at = sequence = footer_at = 0
    while at < len(data) - 16:
        assert data[at:at + 8] == MARKER
        major, _, kind, _, size, payload_size, number, checksum = struct.unpack_from("<HHBBHIIQ", data, at + 8)
        end = at + size + payload_size
        assert (major, number) == (1, sequence)
        assert xxh3(data[at + 32:end], xxh3(data[at + 8:at + 24])) == checksum
        payload = data[at + size:end]
        if kind == 1:
            json.loads(payload)
        elif kind == 2:
            add_chunk(payload, sums)
        elif kind == 3:
            footer_at = at
            json_size, chunks, entries, _ = struct.unpack_from("<IIII", payload)
            sums["produced"] = json.loads(payload[16:16 + json_size])["books"]["produced"]
            assert chunks == entries == (len(payload) - 16 - json_size) // 40
        at, sequence = end, sequence + 1
    assert data[at:] == struct.pack("<Q", footer_at) + END_MARKER
    return sums


def main():
    tracegen = os.path.join(sys.argv[1], "dev", "tracegen")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "x.tag")
        for options in (["--depth", "16"], ["--waits-every", "50"], ["--sequential", "--hctxs", "8", "--queues", "2"]):
            made = subprocess.run([tracegen, "--force", "--ios", "70000", *options, file], check=True,
                                  capture_output=True)
            truth = json.loads(made.stdout)
            with open(file, "rb") as trace:
                sums = read(trace.read())
            # Each request waited as long as the record of its wait says.
            assert sums.pop("io_wait_ns") == sums["submit_wait_ns"]
            for name, value in sums.items():
                if truth[name] != value:
                    failures += 1
                    print(f"{' '.join(options)}: {name} is {value}, tracegen wrote {truth[name]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
