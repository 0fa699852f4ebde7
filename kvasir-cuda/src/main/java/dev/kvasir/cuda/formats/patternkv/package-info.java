/**
 * Pages of PatternKV: codes of residuals from patterns. {@link PatternkvFormat} describes {@link
 * PatternPage}s. {@link PatternBanks} holds the patterns of a sequence, which {@link PatternMiner}
 * mines on the host and {@link PatternPageQuantizer} extends on the device.
 *
 * <p>May use {@code driver}, {@code memory}, {@code formats} and the codec of the method in
 * kvasir-core.
 */
package dev.kvasir.cuda.formats.patternkv;
