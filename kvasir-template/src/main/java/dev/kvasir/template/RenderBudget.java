package dev.kvasir.template;

/**
 * The resource limits of one rendering. A template comes with a model file and is untrusted: these
 * limits turn an endless or exploding one into an error. The largest published templates stay below
 * a thousandth of each.
 */
final class RenderBudget {
  /** The depth of evaluation. */
  static final int MAX_DEPTH = 400;

  /**
   * The depth of evaluation on the caller's stack, with up to 1 KiB each; few templates need more.
   */
  private static final int SHALLOW = 24;

  /** The depth of one value, for recursive traversals. */
  static final int MAX_VALUE_DEPTH = 200;

  /** The depth of a value that is traversed on the caller's stack. */
  private static final int SHALLOW_VALUE = 12;

  static final long MAX_STEPS = 50_000_000;
  static final int MAX_TEXT = 64 << 20;

  /** Characters produced by a rendering, retained or not, which limits what can be retained. */
  static final long MAX_PRODUCED = 512L << 20;

  /** The references of a list count as characters. */
  private static final int CHARACTERS_PER_ELEMENT = 4;

  private int depth;
  private long steps;
  private long produced;

  void enter() {
    step(1);
    if (++depth > SHALLOW) {
      LargeStack.require();
    }
    if (depth > MAX_DEPTH) {
      throw new EvaluationException("nested or recursive evaluation deeper than " + MAX_DEPTH);
    }
  }

  void leave() {
    depth--;
  }

  void step(long count) {
    steps += count;
    if (steps > MAX_STEPS) {
      throw new EvaluationException("more than " + MAX_STEPS + " steps in one rendering");
    }
  }

  /** Called before {@code length} characters are produced. */
  void chargeText(long length) {
    if (length > MAX_TEXT) {
      throw new EvaluationException("a text of more than " + MAX_TEXT + " characters");
    }
    produced += length;
    if (produced > MAX_PRODUCED) {
      throw new EvaluationException(
          "more than " + MAX_PRODUCED + " characters made in one rendering");
    }
  }

  /** Called before {@code more} characters are appended to {@code length} others. */
  void chargeAppend(long length, long more) {
    if (length + more > MAX_TEXT) {
      throw new EvaluationException("a text of more than " + MAX_TEXT + " characters");
    }
    chargeText(more);
  }

  /** Called before a list of {@code size} elements is created. */
  void chargeElements(long size) {
    step(Math.min(size, MAX_STEPS + 1));
    chargeText(size * CHARACTERS_PER_ELEMENT);
  }

  String produced(String text) {
    chargeText(text.length());
    return text;
  }

  String repeat(String text, long times) {
    if (times <= 0 || text.isEmpty()) {
      return "";
    }
    chargeText(times > MAX_TEXT ? times : times * text.length());
    return text.repeat((int) times);
  }

  /** Called before a value at {@code depth} is appended to the text of another. */
  static int checkDepth(int depth, StringBuilder text) {
    // Lists may share elements, so the text of a small value can be exponentially long.
    if (text.length() > MAX_TEXT) {
      throw new EvaluationException("a printed value of more than " + MAX_TEXT + " characters");
    }
    return checkDepth(depth);
  }

  static int checkDepth(int depth) {
    if (depth > SHALLOW_VALUE) {
      LargeStack.require();
    }
    if (depth > MAX_VALUE_DEPTH) {
      throw new EvaluationException("a value nested deeper than " + MAX_VALUE_DEPTH);
    }
    return depth + 1;
  }
}
