/**
 * Finds RotateKV's channel order: {@link dev.kvasir.lab.calibrator.rotatekv.RotatekvCalibrator}.
 */
package dev.kvasir.lab.calibrator.rotatekv;
