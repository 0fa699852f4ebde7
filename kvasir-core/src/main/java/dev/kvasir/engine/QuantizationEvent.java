package dev.kvasir.engine;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A Flight Recorder event for the quantization of pages. */
@Name("dev.kvasir.Quantization")
@Label("Quantization")
@Description("Pages of one sequence that have left its residual window")
@Category("Kvasir")
@StackTrace(false)
final class QuantizationEvent extends Event {
  private static final QuantizationEvent PROBE = new QuantizationEvent();

  @Label("Tokens")
  @Description("Length of the sequence")
  int tokens;

  @Label("Of Prompt")
  boolean ofPrompt;

  /** Returns an event that begins now; null if no recording asks for it. */
  static QuantizationEvent beginIfRecorded() {
    if (!PROBE.isEnabled()) {
      return null;
    }
    QuantizationEvent event = new QuantizationEvent();
    event.begin();
    return event;
  }

  void end(Request request) {
    end();
    tokens = request.cache().length();
    ofPrompt = request.endedPrefillStep();
    commit();
  }
}
