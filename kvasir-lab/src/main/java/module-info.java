/** Evaluation, calibration, tuning and reports. */
module dev.kvasir.lab {
  requires transitive dev.kvasir.core;
  requires dev.kvasir.methods;
  requires com.google.gson;
  requires ojalgo;

  exports dev.kvasir.lab.calibrator;
  exports dev.kvasir.lab to
      dev.kvasir.cli,
      dev.kvasir.spark;
  exports dev.kvasir.lab.calibrate to
      dev.kvasir.cli;
  exports dev.kvasir.lab.calibrator.commvq to
      dev.kvasir.cli;
  exports dev.kvasir.lab.claim to
      dev.kvasir.cli;
  exports dev.kvasir.lab.codebook to
      dev.kvasir.cli;
  exports dev.kvasir.lab.codebook.encoder to
      dev.kvasir.cli;
  exports dev.kvasir.lab.eval to
      dev.kvasir.cli;
  exports dev.kvasir.lab.forecast to
      dev.kvasir.cli;
  exports dev.kvasir.lab.inspect to
      dev.kvasir.cli;
  exports dev.kvasir.lab.report to
      dev.kvasir.bench,
      dev.kvasir.cli;
  exports dev.kvasir.lab.reproduce to
      dev.kvasir.cli;
  exports dev.kvasir.lab.roundtrip to
      dev.kvasir.cli;
  exports dev.kvasir.lab.search to
      dev.kvasir.cli;
  exports dev.kvasir.lab.task to
      dev.kvasir.cli;
  exports dev.kvasir.lab.text to
      dev.kvasir.cli;
  exports dev.kvasir.lab.tune to
      dev.kvasir.cli;
  exports dev.kvasir.lab.work to
      dev.kvasir.cli,
      dev.kvasir.spark;

  opens dev.kvasir.lab.eval to
      com.google.gson;
  opens dev.kvasir.lab.inspect to
      com.google.gson;
  opens dev.kvasir.lab.report to
      com.google.gson;

  uses dev.kvasir.lab.calibrator.Calibrator;

  provides dev.kvasir.lab.calibrator.Calibrator with
      dev.kvasir.lab.calibrator.pmkvq.PmkvqCalibrator,
      dev.kvasir.lab.calibrator.commvq.CommvqCalibrator,
      dev.kvasir.lab.calibrator.mead.MeadCalibrator,
      dev.kvasir.lab.calibrator.oscar.OscarCalibrator,
      dev.kvasir.lab.calibrator.vqllm.VqllmCalibrator,
      dev.kvasir.lab.calibrator.rotatekv.RotatekvCalibrator;
}
