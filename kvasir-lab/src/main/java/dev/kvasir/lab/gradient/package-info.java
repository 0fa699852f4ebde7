/**
 * How a model's loss depends on the keys and values it remembers: a decoder that computes a whole
 * text at once in 32-bit floats, shows what each layer attends with, and runs backwards. Gradients
 * are of activations alone; no weight ever learns.
 */
package dev.kvasir.lab.gradient;
