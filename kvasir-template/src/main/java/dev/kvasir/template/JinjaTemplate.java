package dev.kvasir.template;

import dev.kvasir.template.Renderer.Scope;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A chat template in the subset of Jinja that model files use.
 *
 * <p>It behaves like the Python reference with {@code trim_blocks}, {@code lstrip_blocks} and loop
 * controls enabled. Variables are strings, booleans, numbers, {@code null}, lists and maps of
 * these; the order of a map is kept. A template is immutable and thread-safe. Deep nesting or
 * recursion takes little of the caller's stack: beyond a few levels, the template runs on a thread
 * with a large stack while the caller waits.
 */
public final class JinjaTemplate {
  private final String name;
  private final List<Statement> body;

  private JinjaTemplate(String name, List<Statement> body) {
    this.name = name;
    this.body = body;
  }

  /**
   * Parses a template.
   *
   * @param name name of the template in error messages
   * @throws TemplateException if the source is malformed or uses an unsupported construct
   */
  public static JinjaTemplate parse(String source, String name) {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(source, "source");
    return new JinjaTemplate(name, LargeStack.call(() -> Parser.parse(source, name)));
  }

  /** Renders with the system clock for {@code strftime_now}. */
  public String render(Map<String, ?> variables) {
    return render(variables, Clock.systemDefaultZone());
  }

  /**
   * Renders the template.
   *
   * @throws TemplateException if the template rejects the variables or fails
   */
  public String render(Map<String, ?> variables, Clock clock) {
    return LargeStack.call(() -> rendered(variables, clock));
  }

  private String rendered(Map<String, ?> variables, Clock clock) {
    var budget = new RenderBudget();
    var renderer = new Renderer(budget);
    try {
      var scope = new Scope(Globals.scope(clock));
      variables.forEach(
          (variable, value) -> scope.put(variable, PythonValues.of(value, budget, 0)));
      return renderer.capture(body, scope);
    } catch (EvaluationException fault) {
      throw new TemplateException(name, renderer.line(), fault.getMessage());
    }
  }

  @Override
  public String toString() {
    return "Template[" + name + "]";
  }
}
