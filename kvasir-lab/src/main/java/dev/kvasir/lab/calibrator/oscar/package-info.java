/** Calibrates OSCAR: rotations and clipping of all heads. Uses the lab package rotate. */
package dev.kvasir.lab.calibrator.oscar;
