/**
 * The KV-cache part of QuaRot: rotates heads by a Hadamard transform, then quantizes uniformly per
 * token. {@link dev.kvasir.methods.quarot.QuarotMethod} registers the method.
 *
 * <p>Uses the packages codec, codec.basis and codec.uniform.
 */
package dev.kvasir.methods.quarot;
