package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.runtime.LoadedModel;

/**
 * What a procedure works with.
 *
 * @param journal keeps finished parts, so that a cancelled run continues
 * @param commands runs other commands of this program
 */
public record Conditions(
    LoadedModel model,
    Request request,
    ProgressListener listener,
    TableJournal journal,
    CommandRunner commands) {

  Conditions withListener(ProgressListener other) {
    return new Conditions(model, request, other, journal, commands);
  }

  /** Returns the tokens of a text, limited by the model's context. */
  int context(int full, int small) {
    return request.context(full, small, model.config().contextLength());
  }
}
