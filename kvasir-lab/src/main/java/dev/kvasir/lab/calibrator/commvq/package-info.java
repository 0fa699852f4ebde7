/**
 * Calibrates CommVQ: codebooks of all heads and encoders of values, with their errors on held-out
 * text, and imports released ones. Uses the lab packages codebook, pytorch and forecast.
 */
package dev.kvasir.lab.calibrator.commvq;
