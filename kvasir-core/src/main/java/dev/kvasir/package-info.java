/**
 * The public API. {@link Model} loads a language model, {@link Session} generates text with it, and
 * {@link LoadOptions}, {@link SessionOptions} and {@link GenerateOptions} configure both. {@link
 * ChatModel} completes conversations, with tools, structured output and streaming.
 *
 * <p>This package may use all other packages of the module; of them only {@code chat} may use it.
 */
package dev.kvasir;
