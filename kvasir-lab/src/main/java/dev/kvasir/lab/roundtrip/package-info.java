/**
 * Passes dumped vectors of any model through a cache and measures the error. {@link
 * dev.kvasir.lab.roundtrip.RoundTrip} feeds a {@link dev.kvasir.lab.roundtrip.Dump} to a cache,
 * writes the dequantized arrays to an {@link dev.kvasir.lab.roundtrip.OutputFolder} and returns a
 * {@link dev.kvasir.lab.roundtrip.RoundTripResult}. The package uses the attention, cache, codec,
 * format and kernel packages of kvasir-core.
 */
package dev.kvasir.lab.roundtrip;
