/**
 * Loaded models and their sessions. {@link LoadedModel} implements {@link dev.kvasir.Model} with an
 * engine, a tokenizer and a scheduler, {@link ModelSession} implements {@link dev.kvasir.Session},
 * and {@link EngineOptions} has settings that the public API does not offer. Modules of Kvasir use
 * these types; applications use {@code dev.kvasir}.
 *
 * <p>It may use every package but {@code chat}.
 */
package dev.kvasir.runtime;
