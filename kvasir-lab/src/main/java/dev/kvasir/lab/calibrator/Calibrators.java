package dev.kvasir.lab.calibrator;

import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;

/** All calibrators on the class path. */
public final class Calibrators {
  private static final class Holder {
    static final List<Calibrator> ALL =
        ServiceLoader.load(Calibrator.class, Calibrator.class.getClassLoader()).stream()
            .map(Provider::get)
            .toList();
  }

  private Calibrators() {}

  public static List<Calibrator> all() {
    return Holder.ALL;
  }

  /** Returns the calibrator of the method whose specs start with a name. */
  public static Optional<Calibrator> of(String method) {
    return all().stream().filter(calibrator -> calibrator.method().equals(method)).findFirst();
  }
}
