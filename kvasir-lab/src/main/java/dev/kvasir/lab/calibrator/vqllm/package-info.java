/** Calibrates VQLLM: residual codebooks of all layers. Uses the lab package codebook. */
package dev.kvasir.lab.calibrator.vqllm;
