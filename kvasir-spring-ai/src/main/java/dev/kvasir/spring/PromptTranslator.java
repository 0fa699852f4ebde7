package dev.kvasir.spring;

import dev.kvasir.ChatRequest;
import dev.kvasir.OutputFormat;
import dev.kvasir.SamplingOptions;
import dev.kvasir.Tool;
import java.util.List;
import java.util.Locale;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.StructuredOutputChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;

/** Translates Spring AI prompts to requests of Kvasir. */
final class PromptTranslator {
  private PromptTranslator() {}

  /**
   * @throws IllegalArgumentException if an option is out of its range
   */
  static ChatRequest of(Prompt prompt) {
    ChatOptions options = prompt.getOptions();
    ChatRequest.Builder builder =
        ChatRequest.builder()
            .messages(SpringMessageTranslator.of(prompt.getInstructions()))
            .sampling(sampling(options));
    if (options.getModel() != null) {
      builder.model(options.getModel());
    }
    if (options.getMaxTokens() != null) {
      builder.maxTokens(options.getMaxTokens());
    }
    if (options.getStopSequences() != null) {
      builder.stopSequences(options.getStopSequences());
    }
    if (options instanceof ToolCallingChatOptions calling && calling.getToolCallbacks() != null) {
      builder.tools(tools(calling.getToolCallbacks()));
    }
    if (options instanceof StructuredOutputChatOptions structured
        && structured.getOutputSchema() != null) {
      builder.format(OutputFormat.jsonSchema(structured.getOutputSchema()));
    }
    if (options instanceof KvasirChatOptions own) {
      addOwn(builder, own);
    }
    return builder.build();
  }

  private static SamplingOptions sampling(ChatOptions options) {
    SamplingOptions sampling = SamplingOptions.defaults();
    if (options.getTemperature() != null) {
      sampling = sampling.toBuilder().temperature(options.getTemperature()).build();
    }
    if (options.getTopP() != null) {
      // 0 is common for the most likely token alone.
      double topP = options.getTopP();
      sampling = sampling.toBuilder().topP(topP == 0 ? Double.MIN_NORMAL : topP).build();
    }
    if (options.getTopK() != null) {
      sampling = sampling.toBuilder().topK(options.getTopK()).build();
    }
    if (options.getFrequencyPenalty() != null) {
      sampling = sampling.toBuilder().frequencyPenalty(options.getFrequencyPenalty()).build();
    }
    if (options.getPresencePenalty() != null) {
      sampling = sampling.toBuilder().presencePenalty(options.getPresencePenalty()).build();
    }
    return options instanceof KvasirChatOptions own ? own(sampling, own) : sampling;
  }

  private static SamplingOptions own(SamplingOptions given, KvasirChatOptions own) {
    SamplingOptions sampling =
        own.seed() == null ? given : given.toBuilder().seed(own.seed()).build();
    return own.minP() == null ? sampling : sampling.toBuilder().minP(own.minP()).build();
  }

  private static List<Tool> tools(List<ToolCallback> callbacks) {
    return callbacks.stream().map(callback -> tool(callback.getToolDefinition())).toList();
  }

  private static Tool tool(ToolDefinition definition) {
    return new Tool(definition.name(), definition.description(), definition.inputSchema());
  }

  private static void addOwn(ChatRequest.Builder builder, KvasirChatOptions own) {
    if (own.kv() != null) {
      builder.cache(own.kv());
    }
    if (own.conversation() != null) {
      builder.conversation(own.conversation());
    }
    if (own.toolChoice() != null) {
      builder.toolChoice(toolChoice(own.toolChoice()));
    }
    if (own.answerChoices() != null) {
      if (own.getOutputSchema() != null) {
        throw new IllegalArgumentException(
            "answerChoices and outputSchema are both given; expected one");
      }
      builder.format(OutputFormat.oneOf(own.answerChoices()));
    }
  }

  private static ChatRequest.ToolChoice toolChoice(String word) {
    return switch (word) {
      case "auto", "required", "none" ->
          ChatRequest.ToolChoice.valueOf(word.toUpperCase(Locale.ROOT));
      default ->
          throw new IllegalArgumentException(
              "toolChoice is '%s'; expected none, auto or required".formatted(word));
    };
  }
}
