package dev.kvasir.spring.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.spring.KvasirChatOptions;
import dev.kvasir.spring.KvasirMeters;
import dev.kvasir.spring.KvasirSpringChatModel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts the example like Spring Boot does and sends requests. */
class ExampleApplicationTest {
  private static ConfigurableApplicationContext context;
  private static ChatClient client;

  @BeforeAll
  static void start() {
    context =
        application()
            .run(
                "--kvasir.kv=kivi:2;fp16",
                "--kvasir.kv-memory=64MB",
                "--kvasir.context-limit=2048",
                "--kvasir.chat.max-tokens=12",
                "--kvasir.chat.temperature=0");
    client = context.getBean(ChatClient.Builder.class).build();
  }

  private static SpringApplicationBuilder application() {
    return new SpringApplicationBuilder(ExampleApplication.class)
        .web(WebApplicationType.NONE)
        .logStartupInfo(false);
  }

  @AfterAll
  static void stop() {
    context.close();
  }

  @Test
  void itAnswersWithinTheBoundsOfItsProperties() {
    var response = client.prompt("Tell me of the sea.").call().chatResponse();
    assertThat(response.getResult().getOutput().getText()).isNotBlank();
    assertThat(response.getMetadata().getUsage().getCompletionTokens()).isEqualTo(12);
    assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("LENGTH");
    assertThat(context.getBean(dev.kvasir.ChatModel.class).names())
        .containsExactly("kvasir-mini", "kvasir-mini@fp16");
    assertThat(context.getBeansOfType(KvasirMeters.class)).hasSize(1);
  }

  @Test
  void aStreamGivesTheSameText() {
    String whole = client.prompt("Tell me of the sea.").call().content();
    List<String> chunks =
        client.prompt("Tell me of the sea.").stream().content().collectList().block();
    assertThat(chunks).hasSizeGreaterThan(1);
    assertThat(String.join("", chunks)).isEqualTo(whole);
  }

  /** Functions that the model may call. */
  static final class Harbour {
    @Tool(description = "How high the water stands in the harbour", returnDirect = true)
    String tide() {
      return "two feet";
    }
  }

  @Test
  void aFunctionOfTheApplicationIsCalled() {
    String answer =
        client
            .prompt("How high is the water?")
            .tools(new Harbour())
            .options(KvasirChatOptions.builder().maxTokens(100).toolChoice("required"))
            .call()
            .content();
    assertThat(answer).contains("two feet");
  }

  /** A structured answer about a ship. */
  record Ship(Kind kind, boolean seaworthy) {}

  enum Kind {
    BRIG,
    SLOOP
  }

  @Test
  void anAnswerIsAnObjectOfAClass() {
    Ship ship =
        client
            .prompt("Which ship is it?")
            .options(KvasirChatOptions.builder().maxTokens(100))
            .call()
            .entity(Ship.class, spec -> spec.useProviderStructuredOutput());
    assertThat(ship.kind()).isIn(Kind.BRIG, Kind.SLOOP);
  }

  @Test
  void aPrefixOfOneProcessIsFoundByTheNext(@TempDir Path folder) {
    String prompt = "The tide comes in and goes out. ".repeat(40);
    String[] arguments = {
      "--kvasir.kv=kivi:2", "--kvasir.store=" + folder + ",64MiB", "--kvasir.chat.max-tokens=2"
    };
    assertThat(unread(arguments, prompt)).isGreaterThan(256);
    assertThat(unread(arguments, prompt)).isEqualTo(1);
  }

  private static long unread(String[] arguments, String prompt) {
    try (ConfigurableApplicationContext another = application().run(arguments)) {
      ChatModel model = another.getBean(ChatModel.class);
      var usage = model.call(new Prompt(prompt)).getMetadata().getUsage();
      return usage.getPromptTokens() - usage.getCacheReadInputTokens();
    }
  }

  @Test
  void anotherProviderMayBeChosen() {
    assertThatThrownBy(
            () -> application().run("--spring.ai.model.chat=other").getBean(ChatClient.class))
        .hasMessageContaining("ChatModel");
    assertThat(context.getBeansOfType(KvasirSpringChatModel.class)).hasSize(1);
  }
}
