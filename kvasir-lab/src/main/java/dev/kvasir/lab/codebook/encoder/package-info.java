/**
 * Trains CommVQ's learned value encoder: straight-through Gumbel softmax, AdamW, and losses of
 * values and of attention outputs.
 */
package dev.kvasir.lab.codebook.encoder;
