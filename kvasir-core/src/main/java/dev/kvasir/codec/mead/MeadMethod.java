package dev.kvasir.codec.mead;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/**
 * The Mead method: predicts keys and values from tables and allocates bits by their effect on the
 * output.
 */
public final class MeadMethod extends BitWidthMethod {
  public MeadMethod() {
    super(
        "mead",
        MethodFamily.TOKEN_TABLES,
        MeadConfig::of,
        "mead:0.75 to mead:8, such as 1.75: tables, first,",
        "  classes, means, late-sinks, budget, floor;",
        "  with tables of the profile, or profile=none");
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(new Calibration(Calibration.Command.CALIBRATE, List.of()));
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS, Trait.COPIES_MAPPED_PAGES),
        "mead:2",
        "mead:1.5,tables=off,first=coded,window=0",
        "mead:3,tables=centroids,sinks=5,window=40",
        "mead:1.5,tables=off,late-sinks=8,sinks=0",
        "mead:2.5,budget=210KiB",
        "mead:8,budget=170KiB,window=0,sinks=0,first=coded",
        "mead:4,budget=190KiB,floor=1.5,window=40,tables=centroids,first=coded,means=off",
        "mead:3,budget=pool,tables=off,sinks=5",
        "mead:2.5,classes=attention,first=coded,means=off,sinks=130",
        "mead:2,first=coded",
        "mead:2.5,tables=centroids,window=0",
        "mead:4,budget=10bits,first=coded",
        "mead:2,profile=none",
        "mead:1.5,profile=none,window=0,sinks=5,late-sinks=0",
        "mead:4,profile=none,means=off,window=200");
  }
}
