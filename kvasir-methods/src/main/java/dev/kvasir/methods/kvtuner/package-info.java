/**
 * KVTuner: KIVI codes whose bits for keys and for values differ by layer. {@link
 * dev.kvasir.methods.kvtuner.KvtunerMethod} registers the method, and {@link
 * dev.kvasir.methods.kvtuner.KvBitWidths} allocates the bits by the sensitivities of a profile.
 *
 * <p>Uses the packages codec, codec.kivi, codec.uniform and page.
 */
package dev.kvasir.methods.kvtuner;
