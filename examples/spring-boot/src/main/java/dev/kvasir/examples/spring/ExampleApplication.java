package dev.kvasir.examples.spring;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Answers one message with Spring AI when it starts. */
@SpringBootApplication
public class ExampleApplication {
  @Bean
  CommandLineRunner ask(ChatClient.Builder client) {
    String question = "Tell me about the sea.";
    return arguments -> System.out.println(client.build().prompt(question).call().content());
  }

  public static void main(String[] arguments) {
    SpringApplication.run(ExampleApplication.class, arguments);
  }
}
