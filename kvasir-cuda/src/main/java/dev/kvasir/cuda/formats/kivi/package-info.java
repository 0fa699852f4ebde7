/**
 * Pages of KIVI: uniform codes, keys per channel and values per token. {@link KiviFormat} describes
 * them and {@link KiviPageQuantizer} quantizes them. Pages of KVTuner are the same.
 *
 * <p>May use {@code driver}, {@code memory}, {@code formats} and the codec of the method in
 * kvasir-core.
 */
package dev.kvasir.cuda.formats.kivi;
