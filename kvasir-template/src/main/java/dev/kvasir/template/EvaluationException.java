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

  /** Returns an error that reads "a value of type list cannot be called". */
  static EvaluationException ofType(Object value, String problem) {
    return new EvaluationException(
        "a value of type " + PythonValues.typeName(value) + " " + problem);
  }

  /** Returns an error that reads "items expects a dict, found list". */
  static EvaluationException expected(String expectation, Object found) {
    return new EvaluationException(expectation + ", found " + PythonValues.typeName(found));
  }
}
