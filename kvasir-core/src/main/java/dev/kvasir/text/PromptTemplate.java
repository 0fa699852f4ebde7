package dev.kvasir.text;

import dev.kvasir.template.JinjaTemplate;
import dev.kvasir.template.TemplateException;
import java.util.Map;
import java.util.function.Supplier;

/** A Jinja template that somebody handed over: what is wrong with it is said to them. */
public final class PromptTemplate {
  private final JinjaTemplate template;

  private PromptTemplate(JinjaTemplate template) {
    this.template = template;
  }

  /**
   * @param name says in error messages which template is meant
   * @throws PromptTemplateException if the source is malformed or uses what is not supported
   */
  public static PromptTemplate parse(String source, String name) {
    return new PromptTemplate(wrapErrors(() -> JinjaTemplate.parse(source, name)));
  }

  /**
   * @param variables strings, booleans, numbers, {@code null}, lists and maps of these
   * @throws PromptTemplateException if the template refuses the variables, or fails on them
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
