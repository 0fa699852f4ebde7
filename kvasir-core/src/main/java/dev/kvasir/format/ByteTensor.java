package dev.kvasir.format;

import java.lang.foreign.MemorySegment;

/**
 * A tensor of raw bytes, such as packed codes.
 *
 * @param dtype its type in the file
 * @param shape outermost dimension first
 */
record ByteTensor(String dtype, long[] shape, MemorySegment data) {}
