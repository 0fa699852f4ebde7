/**
 * Pages of KIVI: uniform codes of 2 or 4 bits, keys per channel and values per token. {@link
 * KiviFormatProvider} describes them and {@link KiviPageQuantizer} quantizes them.
 *
 * <p>May use {@code driver}, {@code memory}, {@code formats} and the codec of the method in
 * kvasir-core.
 */
package dev.kvasir.cuda.formats.kivi;
