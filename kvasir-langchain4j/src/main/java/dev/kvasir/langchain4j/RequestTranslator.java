package dev.kvasir.langchain4j;

import com.google.gson.Gson;
import dev.kvasir.ChatRequest;
import dev.kvasir.OutputFormat;
import dev.kvasir.SamplingOptions;
import dev.kvasir.Tool;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.internal.JsonSchemaElementUtils;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.request.json.JsonSchemaElement;

/** Translates LangChain4j requests to those of Kvasir. */
final class RequestTranslator {
  private static final Gson GSON = new Gson();

  private RequestTranslator() {}

  /**
   * @throws IllegalArgumentException if a parameter is out of its range
   */
  static ChatRequest of(dev.langchain4j.model.chat.request.ChatRequest request) {
    ChatRequestParameters parameters = request.parameters();
    ChatRequest.Builder builder =
        ChatRequest.builder()
            .messages(MessageTranslator.of(request.messages()))
            .sampling(sampling(parameters))
            .stopSequences(parameters.stopSequences())
            .tools(parameters.toolSpecifications().stream().map(RequestTranslator::tool).toList())
            .format(format(parameters.responseFormat()));
    if (parameters.modelName() != null) {
      builder.model(parameters.modelName());
    }
    if (parameters.maxOutputTokens() != null) {
      builder.maxTokens(parameters.maxOutputTokens());
    }
    if (parameters.toolChoice() != null) {
      builder.toolChoice(ChatRequest.ToolChoice.valueOf(parameters.toolChoice().name()));
    }
    if (parameters instanceof KvasirChatRequestParameters own) {
      addOwn(builder, own);
    }
    return builder.build();
  }

  private static SamplingOptions sampling(ChatRequestParameters parameters) {
    SamplingOptions sampling = SamplingOptions.defaults();
    if (parameters.temperature() != null) {
      sampling = sampling.toBuilder().temperature(parameters.temperature()).build();
    }
    if (parameters.topP() != null) {
      // 0 is common for the most likely token alone.
      double topP = parameters.topP();
      sampling = sampling.toBuilder().topP(topP == 0 ? Double.MIN_NORMAL : topP).build();
    }
    if (parameters.topK() != null) {
      sampling = sampling.toBuilder().topK(parameters.topK()).build();
    }
    if (parameters.frequencyPenalty() != null) {
      sampling = sampling.toBuilder().frequencyPenalty(parameters.frequencyPenalty()).build();
    }
    if (parameters.presencePenalty() != null) {
      sampling = sampling.toBuilder().presencePenalty(parameters.presencePenalty()).build();
    }
    return parameters instanceof KvasirChatRequestParameters own ? own(sampling, own) : sampling;
  }

  private static SamplingOptions own(SamplingOptions given, KvasirChatRequestParameters own) {
    SamplingOptions sampling =
        own.seed() == null ? given : given.toBuilder().seed(own.seed()).build();
    return own.minP() == null ? sampling : sampling.toBuilder().minP(own.minP()).build();
  }

  private static Tool tool(ToolSpecification specification) {
    String description = specification.description() == null ? "" : specification.description();
    return specification.parameters() == null
        ? new Tool(specification.name(), description)
        : new Tool(specification.name(), description, schema(specification.parameters()));
  }

  private static String schema(JsonSchemaElement element) {
    return GSON.toJson(JsonSchemaElementUtils.toMap(element));
  }

  private static OutputFormat format(ResponseFormat format) {
    if (format == null || format.type() == ResponseFormatType.TEXT) {
      return OutputFormat.anyText();
    }
    return format.jsonSchema() == null
        ? OutputFormat.jsonObject()
        : OutputFormat.jsonSchema(schema(format.jsonSchema().rootElement()));
  }

  private static void addOwn(ChatRequest.Builder builder, KvasirChatRequestParameters own) {
    if (own.kv() != null) {
      builder.cache(own.kv());
    }
    if (own.conversation() != null) {
      builder.conversation(own.conversation());
    }
    if (own.answerChoices() != null) {
      if (own.responseFormat() != null && own.responseFormat().type() == ResponseFormatType.JSON) {
        throw new IllegalArgumentException(
            "answerChoices and responseFormat are both given; expected one");
      }
      builder.format(OutputFormat.oneOf(own.answerChoices()));
    }
  }
}
