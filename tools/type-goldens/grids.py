#!/usr/bin/env python3
"""Writes the grids of ggml's IQ types, taken from ggml-common.h, as the reader has them in its jar.

usage: grids.py ggml-common.h iq-grids.bin

Every point of a grid becomes a 16-bit number, little-endian, the first coordinate in its lowest bits: the index of each
coordinate among the grid's levels, in 2 bits for 8 coordinates or in 3 bits for 4. The grids follow one another.
"""
import re
import struct
import sys

GRIDS = [  # table, coordinates, levels
    ("iq2xxs_grid", 8, [8, 25, 43]),
    ("iq2xs_grid", 8, [8, 25, 43]),
    ("iq2s_grid", 8, [8, 25, 43]),
    ("iq1s_grid", 8, [255, 0, 1]),  # 255 is -1
    ("iq3xxs_grid", 4, [4, 12, 20, 28, 36, 44, 52, 62]),
    ("iq3s_grid", 4, [1, 3, 5, 7, 9, 11, 13, 15]),
]


def points(header, table):
    begin = re.search(r"GGML_TABLE_BEGIN\(\w+, %s, \w+\)" % table, header).end()
    return [int(hex, 16) for hex in re.findall(r"0x[0-9a-f]+", header[begin : header.index("GGML_TABLE_END", begin)])]


def packed(point, coordinates, levels):
    bits = 2 if coordinates == 8 else 3
    return sum(levels.index(point >> 8 * i & 255) << bits * i for i in range(coordinates))


def main(header_file, out_file):
    with open(header_file) as file:
        header = file.read()
    with open(out_file, "wb") as out:
        for table, coordinates, levels in GRIDS:
            for point in points(header, table):
                out.write(struct.pack("<H", packed(point, coordinates, levels)))


main(*sys.argv[1:])
