package dev.kvasir.lab.task;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.Serializable;
import java.io.StringReader;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A question with a numeric answer. */
public record WordProblem(String question, BigDecimal answer) implements Serializable {
  /** Returns the prompt up to where the answer starts. */
  public String prompt() {
    return "Question: " + question.strip() + "\nAnswer:";
  }

  /** Returns the question as an instruction for a chat model. */
  public String instruction() {
    return question.strip() + "\nThink step by step, and end with the number that is the answer.";
  }

  /** Returns whether the last number of an attempt is the answer. */
  public boolean isSolvedBy(String attempt) {
    return AnswerNumbers.last(attempt).filter(number -> number.compareTo(answer) == 0).isPresent();
  }

  /**
   * Reads a file of lines such as {@code {"question": "...", "answer": "... #### 72"}}, the format
   * of GSM8K. The last number of the answer counts.
   */
  public static List<WordProblem> read(Path file) {
    List<WordProblem> problems = new ArrayList<>();
    List<String> lines = lines(file);
    for (int i = 0; i < lines.size(); i++) {
      if (!lines.get(i).isBlank()) {
        problems.add(parse(lines.get(i), "%s, line %d".formatted(file, i + 1)));
      }
    }
    if (problems.isEmpty()) {
      throw new InvalidInputException(file + ": holds no question; expected one in a line");
    }
    return problems;
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (NoSuchFileException e) {
      throw new InvalidInputException(file + ": no such file", e);
    } catch (IOException e) {
      String problem =
          Files.isDirectory(file) ? "is a folder; a file was expected" : "cannot be read as UTF-8";
      throw new InvalidInputException(file + ": " + problem, e);
    }
  }

  private static WordProblem parse(String line, String place) {
    JsonObject object = object(line, place);
    String answer = text(object, "answer", place);
    return new WordProblem(
        text(object, "question", place),
        AnswerNumbers.last(answer)
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "%s: 'answer' is '%s'; expected a number in it"
                            .formatted(place, shortened(answer)))));
  }

  private static JsonObject object(String line, String place) {
    try (JsonReader reader = new JsonReader(new StringReader(line))) {
      reader.setStrictness(Strictness.STRICT);
      return new Gson().fromJson(reader, JsonObject.class);
    } catch (JsonParseException | IOException e) {
      throw new InvalidInputException(
          "%s: is '%s'; expected a JSON object".formatted(place, shortened(line)), e);
    }
  }

  private static String text(JsonObject object, String name, String place) {
    JsonElement value = object.get(name);
    if (value == null || !value.isJsonPrimitive() || value.getAsString().isBlank()) {
      throw new InvalidInputException(
          "%s: '%s' is %s; expected a text"
              .formatted(place, name, value == null ? "missing" : shortened("'" + value + "'")));
    }
    return value.getAsString();
  }

  private static String shortened(String text) {
    return text.length() <= 40 ? text : text.substring(0, 40) + "...";
  }
}
