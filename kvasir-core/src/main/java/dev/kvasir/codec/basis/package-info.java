/**
 * What methods share that pack vectors in another basis: rotations of heads, factors of channels,
 * pages of such vectors and their reader.
 */
package dev.kvasir.codec.basis;
