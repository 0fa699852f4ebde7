package dev.kvasir.lab.reproduce;

import java.util.List;
import java.util.Optional;

/** Computes the figures of a table. */
public interface Procedure {
  /** Returns what a run needs besides a model, a few words each; empty if nothing. */
  List<String> needs();

  /** Rejects a request that lacks something, before the model is loaded. */
  default void check(Request request) {}

  /** Returns the figures; empty if the run was cancelled. */
  Optional<Figures> run(Conditions conditions);
}
