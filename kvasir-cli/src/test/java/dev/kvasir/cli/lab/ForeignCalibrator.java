package dev.kvasir.cli.lab;

import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.Calibrator;
import dev.kvasir.lab.calibrator.CalibratorOption;
import java.util.List;

/**
 * The calibrator of a method outside of Kvasir's modules, registered by a service file in the test
 * resources. It saves one note.
 */
public final class ForeignCalibrator implements Calibrator {
  private static final CalibratorOption<Integer> DEPTH =
      CalibratorOption.of(
          "--foreign-depth", "N", Integer.class, 3, "foreign: 1 to 9. Default: ${DEFAULT-VALUE}.");

  @Override
  public String method() {
    return "foreign";
  }

  @Override
  public String description() {
    return "a depth.";
  }

  @Override
  public List<CalibratorOption<?>> options() {
    return List.of(DEPTH);
  }

  @Override
  public boolean isDistributed() {
    return false;
  }

  @Override
  public CalibrationPlan plan(CalibrationRequest request) {
    int depth = request.between(1, 9, DEPTH);
    return context -> {
      context.profile().withNote("foreign/depth", "" + depth).write(context.out());
      context.console().out().println("depth " + depth);
      return true;
    };
  }
}
