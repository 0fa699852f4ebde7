package dev.kvasir.grammar;

/**
 * The calls that wait for the rule being read to end, the innermost first. Stacks share what is
 * below; equal ones are equal wherever they were made.
 */
final class Waiting {
  static final Waiting NOTHING = new Waiting(-1, null, 0, 1);

  private final int state;
  private final Waiting below;
  private final int depth;
  private final int hash;

  private Waiting(int state, Waiting below, int depth, int hash) {
    this.state = state;
    this.below = below;
    this.depth = depth;
    this.hash = hash;
  }

  Waiting push(int returnState) {
    return new Waiting(returnState, this, depth + 1, 31 * hash + returnState);
  }

  /** Where reading goes on when the rule ends. */
  int state() {
    return state;
  }

  Waiting below() {
    return below;
  }

  int depth() {
    return depth;
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public boolean equals(Object object) {
    if (!(object instanceof Waiting other) || hash != other.hash || depth != other.depth) {
      return false;
    }
    Waiting a = this;
    Waiting b = other;
    while (a != b) {
      if (a.state != b.state) {
        return false;
      }
      a = a.below;
      b = b.below;
    }
    return true;
  }
}
