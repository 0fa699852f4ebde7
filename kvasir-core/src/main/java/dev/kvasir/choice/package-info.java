/**
 * Chooses a cache for a model, a context and a memory budget. {@link dev.kvasir.choice.CacheChoice}
 * compares the caches of a table of measured figures, {@link dev.kvasir.choice.CacheFigures}, which
 * {@link dev.kvasir.choice.UserFolder} stores for each model that was measured.
 *
 * <p>Uses {@code cache}, {@code codec} and {@code format}.
 */
package dev.kvasir.choice;
