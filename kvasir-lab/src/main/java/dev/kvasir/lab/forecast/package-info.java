/**
 * Estimates operations, time, memory and disk of a calibration before it starts. {@link
 * dev.kvasir.lab.forecast.Forecast} is the estimate, made of {@link
 * dev.kvasir.lab.forecast.ForecastStage}s. {@link dev.kvasir.lab.forecast.SpeedMeasurement}
 * measures the machine. The package uses the lab packages codebook and gradient, and the cache,
 * codec, engine and model packages of kvasir-core.
 */
package dev.kvasir.lab.forecast;
