package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RenderTest {
  private static final String TEMPLATE =
      "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}"
          + "{% endfor %}{% if tools %}{{ tools | length }} tools{% endif %}"
          + "{% if add_generation_prompt %}[assistant]{% endif %}";

  @TempDir Path folder;
  private String template;
  private String messages;

  @BeforeEach
  void writeFiles() throws IOException {
    template = write("chat.jinja", TEMPLATE);
    messages = write("chat.json", "[{\"role\": \"user\", \"content\": \"Hi\"}]");
  }

  private String write(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  private CommandRun render(String... more) {
    String[] all = new String[more.length + 3];
    all[0] = "render";
    all[1] = "--messages";
    all[2] = messages;
    System.arraycopy(more, 0, all, 3, more.length);
    return CommandRun.of(all);
  }

  @Test
  void thePromptIsPrintedExactly() {
    assertThat(render("--template", template).succeeds().out()).isEqualTo("[user]Hi[assistant]");
    assertThat(render("--template", template, "--no-generation-prompt").out())
        .isEqualTo("[user]Hi");
  }

  @Test
  void variablesAndToolsReachTheTemplate() throws IOException {
    String tools = write("tools.json", "[{\"name\": \"clock\"}, {\"name\": \"dice\"}]");
    CommandRun run =
        render(
            "--template",
            template,
            "--tools",
            tools,
            "--set",
            "bos_token=\"<s>\"",
            "--set",
            "eos_token=\"</s>\"");
    assertThat(run.succeeds().out()).isEqualTo("<s>[user]Hi</s>2 tools[assistant]");
  }

  @Test
  void anObjectBringsItsOwnVariables() throws IOException {
    template =
        write(
            "vars.jinja",
            "{{ messages[0].n }} {{ x }} {{ y.z }} {{ w is none }}"
                + " {{ add_generation_prompt }}");
    messages =
        write(
            "object.json",
            "{\"messages\": [{\"n\": 3}], \"x\": 2.50, \"y\": {\"z\": [1, true]}, \"w\": null,"
                + " \"add_generation_prompt\": false}");
    assertThat(render("--template", template).succeeds().out())
        .isEqualTo("3 2.5 [1, True] True False");
    assertThat(render("--template", template, "--set", "x=7").out()).startsWith("3 7 ");
  }

  @Test
  void aModelBringsItsTemplateAndTokens() throws IOException {
    String model = VocabularyFile.write(folder.resolve("a.gguf"), TEMPLATE).toString();
    assertThat(render("--model", model).succeeds().out()).isEqualTo("<s>[user]Hi</s>[assistant]");
    String without = VocabularyFile.write(folder.resolve("b.gguf"), null).toString();
    render("--model", without).isRefusedWith("b.gguf: carries no chat template");
    render("--model", model, "--template", template).isRefusedWith("both --template");
    render().isRefusedWith("no template was given");
  }

  @Test
  void badJsonAndBadTemplatesAreRefused() throws IOException {
    render("--template", write("bad.jinja", "{% for %}")).isRefusedWith("bad.jinja", "line 1");
    render("--template", write("no.jinja", "{{ raise_exception('no users') }}"))
        .isRefusedWith("no users");
    render("--template", folder.resolve("none").toString()).isRefusedWith("no such file");
    render("--template", template, "--set", "x=y").isRefusedWith("--set x=y", "not valid JSON");
    render("--template", template, "--set", "x").isRefusedWith("'--set'");
    messages = write("broken.json", "[{\"role\": ");
    render("--template", template).isRefusedWith("broken.json", "not valid JSON");
    messages = write("number.json", "3");
    render("--template", template).isRefusedWith("number.json", "expected");
    messages = write("empty.json", "{}");
    render("--template", template).isRefusedWith("'messages' is missing");
  }
}
