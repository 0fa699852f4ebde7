/**
 * Any method on latent attention: latents are packed as the method packs heads, and the channels
 * that turn behind them lie beside, with 8 or 16 bits.
 */
package dev.kvasir.codec.latent;
