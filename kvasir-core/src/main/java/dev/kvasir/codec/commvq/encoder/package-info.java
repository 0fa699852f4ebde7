/**
 * CommVQ's learned value encoder: a small network that maps a token's values, all KV heads
 * together, to bits, and a codebook whose rows the set bits add up.
 */
package dev.kvasir.codec.commvq.encoder;
