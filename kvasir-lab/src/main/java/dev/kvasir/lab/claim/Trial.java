package dev.kvasir.lab.claim;

/**
 * One way to test a claim.
 *
 * @param conditions settings that differ from those of {@code form}, in a few words; may be empty
 * @param experiment experiment that measures it
 * @param check how its figures are judged
 */
public record Trial(Form form, String conditions, Experiment experiment, Check check) {
  /** The settings under which a claim is tested. */
  public enum Form {
    /** The method and its conditions as published, as far as the lab has them. */
    PAPER("paper's"),

    /** The same sinks, window, text and bytes for all methods, with Kvasir's settings. */
    EQUAL("equal terms");

    private final String label;

    Form(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }
  }

  public String description() {
    return conditions.isEmpty() ? form.label() : form.label() + ": " + conditions;
  }
}
