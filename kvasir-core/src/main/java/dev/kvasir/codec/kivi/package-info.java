/**
 * KIVI and KVTuner: uniform codes with per-channel keys and per-token values. {@link
 * dev.kvasir.codec.kivi.KiviCodec} quantizes; KVTuner chooses the bits of keys and values for each
 * layer.
 *
 * <p>Uses the packages codec, codec.uniform, error, memory and page.
 */
package dev.kvasir.codec.kivi;
