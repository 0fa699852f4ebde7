package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.EncoderProfile;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Converts what the paper's authors released.
 *
 * @param folder with their files
 */
record ImportPlan(int bits, Path folder) implements CalibrationPlan {
  @Override
  public Forecast forecast(
      ModelConfig config, ToIntFunction<String> tokens, Concurrency concurrency) {
    return new Forecast(List.of(), 0, 0, 0);
  }

  @Override
  public boolean run(CalibrationContext context) {
    Profile existing = context.profile(); // rejects another model's profile before any work
    CacheShape shape = context.model().config().cacheShape();
    EncoderProfile released = ReleasedCommvq.read(folder, shape, bits);
    released
        .addTo(existing)
        .withNote(EncoderProfile.part(bits) + "/training", "imported from " + folder.getFileName())
        .write(context.out());
    context
        .console()
        .out()
        .println(
            "imported codebooks of %d x %d heads and %d encoders with %d bits a token"
                .formatted(
                    shape.layers(),
                    shape.kvHeads(),
                    released.encoders().size(),
                    released.encoders().getFirst().bits()));
    return true;
  }
}
