/**
 * Pages of MixKVQ: key channels in precision tiers by salience. {@link MixkvqFormat} describes
 * {@link MixkvqPage}s. {@link WideChannels} assigns tiers and holds the channels of higher
 * precision; {@link DeviceQueryMagnitudes} sums the queries that salience depends on.
 *
 * <p>May use {@code driver}, {@code memory}, {@code formats} and the codec of the method in
 * kvasir-core.
 */
package dev.kvasir.cuda.formats.mixkvq;
