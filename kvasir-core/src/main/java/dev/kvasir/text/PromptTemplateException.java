package dev.kvasir.text;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.template.TemplateException;

/** A template that cannot be parsed, or that rejects its variables. */
public final class PromptTemplateException extends InvalidInputException {
  private static final long serialVersionUID = 1L;

  PromptTemplateException(TemplateException cause) {
    super(cause.getMessage(), cause);
  }
}
