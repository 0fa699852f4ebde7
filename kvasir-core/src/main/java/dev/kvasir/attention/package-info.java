/**
 * Causal attention over KV caches with an online softmax. {@link Attention} divides a step into
 * query tiles and KV splits; {@link AttentionShape} describes the heads. Queries attend to
 * quantized pages without expanding them where the page's codec supports that.
 *
 * <p>May use {@code cache}, {@code codec} and {@code kernel}.
 */
package dev.kvasir.attention;
