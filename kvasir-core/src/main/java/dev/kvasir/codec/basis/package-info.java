/**
 * A change of basis before quantization, shared by several methods. A {@link
 * dev.kvasir.codec.basis.HeadBasis} rotates or scales the channels of a head; {@link
 * dev.kvasir.codec.basis.BasisCodec} quantizes transformed vectors to a {@link
 * dev.kvasir.codec.basis.BasisPage}.
 *
 * <p>Uses the packages codec, codec.uniform, error, kernel, memory, page and profile.
 */
package dev.kvasir.codec.basis;
