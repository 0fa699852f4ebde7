/**
 * Calibrates CommVQ: codebooks of all heads, with their errors on held-out text. Uses the lab
 * packages codebook and forecast.
 */
package dev.kvasir.lab.calibrator.commvq;
