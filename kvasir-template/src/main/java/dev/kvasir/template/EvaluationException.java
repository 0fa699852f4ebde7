package dev.kvasir.template;

/**
 * A wrong step inside one operation, which does not know where in the template it stands; {@link
 * Template} turns it into a {@link TemplateException} with the name and the line.
 */
final class EvaluationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  EvaluationException(String found) {
    super(found, null, false, false);
  }
}
