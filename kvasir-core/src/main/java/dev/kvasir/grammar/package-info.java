/**
 * Constrained decoding. A {@link dev.kvasir.grammar.Grammar}, often from a JSON Schema by {@link
 * dev.kvasir.grammar.JsonGrammar}, is compiled to a pushdown automaton over bytes. {@link
 * dev.kvasir.grammar.TokenGrammar} computes masks of allowed tokens from it.
 *
 * <p>This package uses {@code dev.kvasir.sampling}, {@code dev.kvasir.text} and {@code
 * dev.kvasir.error}.
 */
package dev.kvasir.grammar;
