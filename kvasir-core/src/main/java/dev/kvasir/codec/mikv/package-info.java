/**
 * MiKV: keeps many bits for heavy hitters and a few for all other tokens. {@link
 * dev.kvasir.codec.mikv.MikvMethod} configures {@link dev.kvasir.codec.ranked}.
 *
 * <p>Uses the packages codec and codec.ranked.
 */
package dev.kvasir.codec.mikv;
