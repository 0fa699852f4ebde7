/**
 * Sequences in files. {@link SessionFile} holds one sequence, {@link StoredSequence} its
 * description, and {@link SequenceBlocks} its content-addressed blocks. {@link Identity} prevents a
 * sequence from being used with another model, profile or cache.
 *
 * <p>May use {@code cache}, {@code codec}, {@code format}, {@code profile} and {@code memory}.
 */
package dev.kvasir.stored;
