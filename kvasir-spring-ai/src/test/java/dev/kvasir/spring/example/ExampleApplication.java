package dev.kvasir.spring.example;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** An application with a model in its process; {@code application.properties} say which. */
@SpringBootApplication
public class ExampleApplication {
  @Bean
  ChatClient client(ChatClient.Builder builder) {
    return builder.build();
  }

  /** What the model may call. */
  static final class Harbour {
    @Tool(description = "How high the water stands in the harbour", returnDirect = true)
    String tide() {
      return "two feet";
    }
  }

  public static void main(String[] arguments) {
    try (var context = SpringApplication.run(ExampleApplication.class, arguments)) {
      ChatClient client = context.getBean(ChatClient.class);
      System.out.println(client.prompt("Tell me of the sea.").call().content());
    }
  }
}
