package dev.kvasir;

/**
 * A function that a model may call. The caller executes it and returns the result with {@link
 * ChatMessage#toolResult}.
 *
 * @param description tells the model what it does; may be empty
 * @param parameters a JSON Schema of the arguments, as JSON text
 */
public record Tool(String name, String description, String parameters) {
  private static final String NO_PARAMETERS = "{\"type\":\"object\",\"properties\":{}}";

  /** Creates a tool without parameters. */
  public Tool(String name, String description) {
    this(name, description, NO_PARAMETERS);
  }
}
