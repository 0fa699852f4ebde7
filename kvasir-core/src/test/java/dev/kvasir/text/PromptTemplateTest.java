package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PromptTemplateTest {
  @Test
  void variablesBecomeAPrompt() {
    PromptTemplate template = PromptTemplate.parse("<{{ role }}>", "chat.jinja");
    assertThat(template.render(Map.of("role", "user"))).isEqualTo("<user>");
  }

  @Test
  void aMalformedSourceIsBadInput() {
    assertThatThrownBy(() -> PromptTemplate.parse("one\n{% if true %}", "chat.jinja"))
        .isInstanceOf(PromptTemplateException.class)
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith("Chat template 'chat.jinja', line 2: ");
  }

  @Test
  void aRejectionIsBadInputWithoutControlCharacters() {
    PromptTemplate template =
        PromptTemplate.parse("{{ raise_exception('no \\u001b[31musers') }}", "chat.jinja");
    assertThatThrownBy(() -> template.render(Map.of()))
        .isInstanceOf(PromptTemplateException.class)
        .hasMessageContaining("no \ufffd[31musers");
  }
}
