package dev.kvasir.lab.eval;

/** Follows an evaluation while it runs, on the thread that runs it. */
public interface EvaluationListener {
  /** How much of the work is done, in units of about equal time. */
  void progress(double done, double inAll);

  /** Asked between steps; true ends the evaluation there, and what is finished is kept. */
  default boolean stopped() {
    return false;
  }
}
