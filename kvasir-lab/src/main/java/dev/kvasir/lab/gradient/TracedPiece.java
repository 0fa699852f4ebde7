package dev.kvasir.lab.gradient;

import dev.kvasir.Model;
import dev.kvasir.kernel.Crew;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Worksite;
import java.io.Serializable;

/** A piece that follows a text through the layers of a model. */
public interface TracedPiece<R extends Serializable> extends Piece<R> {
  /** The text. */
  int[] text();

  @Override
  default long bytes(Model model) {
    return TracedDecoder.bytesOfGradients(model.config(), text().length);
  }

  /** What positions are multiplied by. */
  default double positionScale() {
    return 1;
  }

  /**
   * @throws dev.kvasir.lab.work.Stopped where the listener asked for it
   */
  R run(TracedDecoder decoder, WorkListener listener);

  @Override
  default R run(Worksite site, WorkListener listener) {
    try (Crew crew = new Crew(site.threads())) {
      return run(TracedDecoder.of(site.model(), positionScale(), crew), listener);
    }
  }
}
