/**
 * Calibrates PM-KVQ: bits of each layer by gradients, then smoothing factors of keys. Uses the lab
 * packages allocate, smooth, forecast and report.
 */
package dev.kvasir.lab.calibrator.pmkvq;
