/**
 * Shared parts of all calibrations: {@link dev.kvasir.lab.calibrate.CalibrationTexts} samples
 * texts, and {@link dev.kvasir.lab.calibrate.PerTokenQuantizer} and {@link
 * dev.kvasir.lab.calibrate.PerChannelQuantizer} simulate quantization error. The package uses the
 * lab package task and kvasir-core's model and tokenizer.
 */
package dev.kvasir.lab.calibrate;
