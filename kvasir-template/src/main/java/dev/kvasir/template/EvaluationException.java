package dev.kvasir.template;

/**
 * An error in one operation, without its location in the template. {@link JinjaTemplate} converts
 * it to a {@link TemplateException} with the name and the line.
 */
final class EvaluationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  EvaluationException(String found) {
    super(found, null, false, false);
  }
}
