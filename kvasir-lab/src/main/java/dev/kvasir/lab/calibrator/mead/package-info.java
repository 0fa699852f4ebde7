/**
 * Calibrates Mead: tables, a metric of errors and the allocation of bits. Uses the lab packages
 * mead, codebook, forecast and report.
 */
package dev.kvasir.lab.calibrator.mead;
