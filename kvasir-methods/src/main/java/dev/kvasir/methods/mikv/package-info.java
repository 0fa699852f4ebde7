/**
 * MiKV: keeps many bits for heavy hitters and a few for all other tokens. {@link
 * dev.kvasir.methods.mikv.MikvMethod} configures {@link dev.kvasir.methods.ranked}.
 *
 * <p>Uses the packages codec and codec.ranked.
 */
package dev.kvasir.methods.mikv;
