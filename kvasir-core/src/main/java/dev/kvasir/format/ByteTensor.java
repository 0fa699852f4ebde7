package dev.kvasir.format;

import java.lang.foreign.MemorySegment;

/**
 * A tensor of raw bytes, such as packed codes.
 *
 * @param shape outermost dimension first
 */
record ByteTensor(long[] shape, MemorySegment data) {}
