package dev.kvasir.engine;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A Flight Recorder event for a step. Nothing is created unless a recording asks for it. */
@Name("dev.kvasir.Step")
@Label("Step")
@Description("One step of the model for all requests that were ready")
@Category("Kvasir")
@StackTrace(false)
final class StepEvent extends Event {
  private static final StepEvent PROBE = new StepEvent();

  @Label("Rows")
  @Description("Tokens that were computed")
  int rows;

  @Label("Decoding Rows")
  @Description("Rows that continue texts; the others prefill prompts")
  int decodingRows;

  @Label("Sequences")
  int sequences;

  /** Returns an event that begins now; null if no recording asks for it. */
  static StepEvent beginIfRecorded() {
    if (!PROBE.isEnabled()) {
      return null;
    }
    StepEvent event = new StepEvent();
    event.begin();
    return event;
  }

  void end(Batch batch, int decoding) {
    end();
    rows = batch.rows();
    decodingRows = decoding;
    sequences = batch.sequences();
    commit();
  }
}
