package dev.kvasir.cli.session;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.format.JsonFile;
import dev.kvasir.text.Message;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The messages of a chat: {@code {"model": NAME, "messages": [{"role": ROLE, "content": TEXT}]}}.
 * They are authoritative: if the session holds another text, it continues from the common prefix.
 *
 * @param model the model's own name
 */
public record Transcript(String model, List<Message> messages) {
  public static Transcript read(Path file) {
    JsonFile json = JsonFile.read(file);
    JsonArray array =
        json.array("messages").orElseThrow(() -> json.missing("messages", "an array of messages"));
    List<Message> messages = new ArrayList<>();
    for (JsonElement element : array) {
      messages.add(message(json, element));
    }
    return new Transcript(json.string("model").orElse(""), messages);
  }

  private static Message message(JsonFile json, JsonElement element) {
    if (!element.isJsonObject()) {
      throw json.wrong("messages", element, "objects with role and content");
    }
    JsonFile message = JsonFile.parse(json.name() + " 'messages'", element.toString());
    return new Message(text(message, "role"), text(message, "content"));
  }

  private static String text(JsonFile message, String key) {
    return message.string(key).orElseThrow(() -> message.missing(key, "a string"));
  }

  public void write(Path file) {
    JsonArray array = new JsonArray();
    for (Message message : messages) {
      JsonObject object = new JsonObject();
      object.addProperty("role", message.role());
      object.addProperty("content", message.content());
      array.add(object);
    }
    JsonObject root = new JsonObject();
    root.addProperty("model", model);
    root.add("messages", array);
    AtomicFile.write(
        file,
        new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(root) + "\n");
  }
}
