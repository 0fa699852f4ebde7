/**
 * OSCAR: rotates heads by calibrated matrices, then quantizes clipped ranges per token. {@link
 * dev.kvasir.codec.oscar.OscarMethod} registers the method, and {@link
 * dev.kvasir.codec.oscar.OscarProfile} holds the rotations.
 *
 * <p>Uses the packages codec, codec.basis, codec.uniform, error and profile.
 */
package dev.kvasir.codec.oscar;
