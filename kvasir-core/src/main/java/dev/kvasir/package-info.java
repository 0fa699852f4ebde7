/**
 * The public API. {@link Model} loads a language model, {@link Session} generates text with it, and
 * {@link LoadOptions}, {@link SessionOptions} and {@link GenerateOptions} configure both.
 *
 * <p>This package may use all other packages of the module; none of them may use it.
 */
package dev.kvasir;
