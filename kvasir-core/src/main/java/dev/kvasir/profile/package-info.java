/**
 * Calibration data that quantization methods learn for a model. A {@link Profile} is an immutable
 * safetensors file with one part per method.
 *
 * <p>May use {@code format} and {@code error}.
 */
package dev.kvasir.profile;
