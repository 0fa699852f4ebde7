package dev.kvasir.text;

import dev.kvasir.template.JinjaTemplate;
import dev.kvasir.template.TemplateException;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A Jinja template from a user or a model file. Errors in it become {@link
 * PromptTemplateException}.
 */
public final class PromptTemplate {
  private final JinjaTemplate template;

  private PromptTemplate(JinjaTemplate template) {
    this.template = template;
  }

  /**
   * @param name name of the template in error messages
   * @throws PromptTemplateException if the source is malformed or uses an unsupported construct
   */
  public static PromptTemplate parse(String source, String name) {
    return new PromptTemplate(wrapErrors(() -> JinjaTemplate.parse(source, name)));
  }

  /**
   * @param variables strings, booleans, numbers, {@code null}, lists and maps of these
   * @throws PromptTemplateException if the template rejects the variables or fails
   */
  public String render(Map<String, ?> variables) {
    return wrapErrors(() -> template.render(variables));
  }

  private static <T> T wrapErrors(Supplier<T> work) {
    try {
      return work.get();
    } catch (TemplateException e) {
      throw new PromptTemplateException(e);
    }
  }
}
