/**
 * Calibrates OSCAR: {@link dev.kvasir.lab.rotate.RotationCalibration} finds the rotation and
 * clipping of each head. The package uses the lab package gradient and the codec and kernel
 * packages of kvasir-core.
 */
package dev.kvasir.lab.rotate;
