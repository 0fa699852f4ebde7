/**
 * Gradients of a model's loss with respect to its keys and values. {@link
 * dev.kvasir.lab.gradient.TracedDecoder} runs a whole text in 32-bit floats and shows each layer to
 * a {@link dev.kvasir.lab.gradient.TextVisitor}. An {@link dev.kvasir.lab.gradient.Objective}
 * defines the loss. Weights are never trained. The package uses the lab packages task and work, and
 * the attention, kernel and model packages of kvasir-core.
 */
package dev.kvasir.lab.gradient;
