/**
 * Mead, a mixed-precision KV-cache quantizer that predicts keys and values from the token. A table
 * row predicts each vector, and only the prediction residual is quantized. {@link
 * dev.kvasir.codec.mead.BitAllocator} assigns bits by layer, head, channel and saliency tier, where
 * the model's output depends on them most.
 *
 * <p>{@link dev.kvasir.codec.mead.MeadMethod} registers the method, {@link
 * dev.kvasir.codec.mead.MeadCodec} quantizes, {@link dev.kvasir.codec.mead.MeadReader} computes
 * attention on the codes, and {@link dev.kvasir.codec.mead.MeadProfile} holds what calibration
 * learned. Uses the packages codec, error, kernel, memory and profile.
 */
package dev.kvasir.codec.mead;
