package dev.kvasir.grammar;

/**
 * An immutable stack of rule calls, the innermost on top. Stacks share their parents; equality is
 * by content.
 */
final class CallStack {
  static final CallStack EMPTY = new CallStack(-1, null, 0, 1);

  private final int returnState;
  private final CallStack parent;
  private final int depth;
  private final int hash;

  private CallStack(int returnState, CallStack parent, int depth, int hash) {
    this.returnState = returnState;
    this.parent = parent;
    this.depth = depth;
    this.hash = hash;
  }

  CallStack push(int returnState) {
    return new CallStack(returnState, this, depth + 1, 31 * hash + returnState);
  }

  /** Returns the state that follows when the rule ends. */
  int returnState() {
    return returnState;
  }

  CallStack parent() {
    return parent;
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
    if (!(object instanceof CallStack other) || hash != other.hash || depth != other.depth) {
      return false;
    }
    CallStack a = this;
    CallStack b = other;
    while (a != b) {
      if (a.returnState != b.returnState) {
        return false;
      }
      a = a.parent;
      b = b.parent;
    }
    return true;
  }
}
