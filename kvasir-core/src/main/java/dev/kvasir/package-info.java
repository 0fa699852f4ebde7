/**
 * The public API. {@link Model} loads a language model, {@link Session} generates text with it, and
 * {@link ChatModel} completes conversations, with tools, structured output and streaming. {@link
 * KvCacheSpec} selects the KV cache. Options are records with builders; failures are {@link
 * KvasirException}.
 *
 * <p>{@code runtime} and {@code chat} implement this package. Other packages may use its value
 * types, such as {@link SamplingOptions}, but not {@link Model}, {@link Session} and {@link
 * ChatModel}.
 */
package dev.kvasir;
