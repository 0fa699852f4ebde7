/**
 * Mead: what a token is foretells much of its keys and values, and what is left of them gets bits
 * where the answer depends on it: by layer, head, channel and token.
 */
package dev.kvasir.codec.mead;
