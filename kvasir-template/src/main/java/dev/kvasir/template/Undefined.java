package dev.kvasir.template;

/**
 * A missing name, attribute or item. It prints as nothing, is false and iterates as empty; every
 * other use is an error with the reason {@code what}.
 */
record Undefined(String what) {
  static Undefined name(String name) {
    return new Undefined("'" + name + "' is undefined");
  }

  static Undefined attribute(Object owner, String name) {
    return new Undefined(
        "a value of type " + PythonValues.typeName(owner) + " has no '" + name + "'");
  }

  static Undefined item(Object owner, Object key) {
    return new Undefined(
        "a value of type " + PythonValues.typeName(owner) + " has no item " + PythonText.repr(key));
  }

  EvaluationException misused() {
    return new EvaluationException(what);
  }
}
