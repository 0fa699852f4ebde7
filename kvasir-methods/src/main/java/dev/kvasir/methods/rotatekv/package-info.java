/**
 * RotateKV: rotates keys of several heads together before RoPE and sorts their channels, then
 * quantizes per token. {@link dev.kvasir.methods.rotatekv.RotatekvMethod} registers the method,
 * {@link dev.kvasir.methods.rotatekv.KeyGroups} transforms keys, and {@link
 * dev.kvasir.methods.rotatekv.RotatekvPage} computes attention.
 *
 * <p>Uses the packages codec, codec.basis, codec.uniform, kernel, memory and page.
 */
package dev.kvasir.methods.rotatekv;
