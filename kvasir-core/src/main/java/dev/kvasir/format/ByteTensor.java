package dev.kvasir.format;

import java.lang.foreign.MemorySegment;

/**
 * A tensor of bytes that are no numbers by themselves, such as packed codes.
 *
 * @param shape outermost dimension first
 */
record ByteTensor(long[] shape, MemorySegment data) {}
