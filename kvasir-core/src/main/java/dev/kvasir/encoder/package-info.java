/**
 * Encoders, whose tokens attend to all others: {@link dev.kvasir.encoder.BertEncoder}. They have no
 * KV cache and generate no text; embeddings are their use.
 *
 * <p>Uses {@code format}, {@code kernel} and {@code memory}.
 */
package dev.kvasir.encoder;
