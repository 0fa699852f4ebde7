package dev.kvasir;

/**
 * A call of a tool that a model requests.
 *
 * @param id identifies the call, so that its result can refer to it; null if unknown
 * @param name name of the {@link Tool}
 * @param arguments a JSON object
 */
public record ToolCall(String id, String name, String arguments) {}
