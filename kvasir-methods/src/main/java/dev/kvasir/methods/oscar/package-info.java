/**
 * OSCAR: rotates heads by calibrated matrices, then quantizes clipped ranges per token. {@link
 * dev.kvasir.methods.oscar.OscarMethod} registers the method, and {@link
 * dev.kvasir.methods.oscar.OscarProfile} holds the rotations.
 *
 * <p>Uses the packages codec, codec.basis, codec.uniform, error and profile.
 */
package dev.kvasir.methods.oscar;
