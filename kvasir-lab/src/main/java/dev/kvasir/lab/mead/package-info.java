/**
 * Calibrates a model for Mead: token tables, error metric, and bit allocation by tier. {@link
 * dev.kvasir.lab.mead.MeadCalibration} runs the phases on {@link dev.kvasir.lab.mead.MeadTexts} and
 * adds the result to a profile. {@link dev.kvasir.lab.mead.MetricJournal} makes the longest phase
 * resumable. The package uses the lab packages codebook, gradient, task, text and work, and the
 * cache, codec, engine, kernel, model and profile packages of kvasir-core.
 */
package dev.kvasir.lab.mead;
