/**
 * Key smoothing for per-token quantization: keys are divided by a factor for each channel and
 * queries multiplied by it, which changes only the quantization error. {@link
 * dev.kvasir.lab.smooth.KeySmoothing} searches the strength of each layer. The package uses the lab
 * packages calibrate, gradient and work, and the attention, kernel, model and profile packages of
 * kvasir-core.
 */
package dev.kvasir.lab.smooth;
