package dev.kvasir.lab.dataset;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.answer.ClassMatch;
import dev.kvasir.lab.answer.EditSimilarity;
import dev.kvasir.lab.answer.NumberShare;
import dev.kvasir.lab.answer.RougeL;
import dev.kvasir.lab.answer.TokenF1;
import dev.kvasir.lab.answer.Words;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The 21 data sets of LongBench (Bai et al., 2024) with their metrics and answer lengths. */
public final class LongBench {
  private static final String SOURCE =
      "get LongBench (huggingface.co/datasets/THUDM/LongBench, data.zip) and give the folder of"
          + " its JSONL files (fields context, input, answers, all_classes) with --data FOLDER";

  /** A file of users that replaces our prompts, with {context} and {input} in its texts. */
  private static final String PROMPTS = "dataset2prompt.json";

  /** How answers of a data set are judged, and what its prompt asks for. */
  private enum Kind {
    QUESTION("Answer the question from the text in a few words.", true, false) {
      @Override
      double score(Words words, String answer, String reference, List<String> classes) {
        return TokenF1.of(words, answer, reference);
      }
    },
    LONG_ANSWER("Answer the question from the text.", true, false) {
      @Override
      double score(Words words, String answer, String reference, List<String> classes) {
        return RougeL.of(words, answer, reference);
      }
    },
    SUMMARY("Write a summary of the text.", true, false) {
      @Override
      double score(Words words, String answer, String reference, List<String> classes) {
        return RougeL.of(words, answer, reference);
      }
    },
    EXAMPLES("Continue the examples.", false, true) {
      @Override
      double score(Words words, String answer, String reference, List<String> classes) {
        return TokenF1.of(words, answer, reference);
      }
    },
    DIALOGUES("Continue the examples.", false, true) {
      @Override
      double score(Words words, String answer, String reference, List<String> classes) {
        return RougeL.of(words, answer, reference);
      }
    },
    CLASSES("Continue the examples.", false, true) {
      @Override
      double score(Words words, String answer, String reference, List<String> classes) {
        return ClassMatch.of(answer, reference, classes);
      }
    },
    PARAGRAPH("Name the paragraph that the summary is of.", true, false) {
      @Override
      double score(Words words, String answer, String reference, List<String> classes) {
        return NumberShare.ofParagraph(answer, reference);
      }
    },
    COUNT(
        "How many different paragraphs does the text have? Answer with the number.", true, false) {
      @Override
      double score(Words words, String answer, String reference, List<String> classes) {
        return NumberShare.of(answer, reference);
      }
    },
    CODE("Complete the next line of the code.", false, false) {
      @Override
      double score(Words words, String answer, String reference, List<String> classes) {
        return EditSimilarity.ofFirstLine(answer, reference);
      }
    };

    private final String request;
    private final boolean chat;
    private final boolean firstLine;

    Kind(String request, boolean chat, boolean firstLine) {
      this.request = request;
      this.chat = chat;
      this.firstLine = firstLine;
    }

    abstract double score(Words words, String answer, String reference, List<String> classes);
  }

  public static final Dataset HOTPOT_QA = of("HotpotQA", "hotpotqa", Kind.QUESTION, 32);
  public static final Dataset WIKI_QA = of("2WikiMQA", "2wikimqa", Kind.QUESTION, 32);
  public static final Dataset MUSIQUE = of("MuSiQue", "musique", Kind.QUESTION, 32);
  public static final Dataset DUREADER = chinese("DuReader", "dureader", Kind.LONG_ANSWER, 128);
  public static final Dataset FIELD_QA_ZH =
      chinese("MultiFieldQA-zh", "multifieldqa_zh", Kind.QUESTION, 64);
  public static final Dataset FIELD_QA = of("MultiFieldQA", "multifieldqa_en", Kind.QUESTION, 64);
  public static final Dataset NARRATIVE_QA = of("NarrativeQA", "narrativeqa", Kind.QUESTION, 128);
  public static final Dataset QASPER = of("Qasper", "qasper", Kind.QUESTION, 128);
  public static final Dataset GOV_REPORT = of("GovReport", "gov_report", Kind.SUMMARY, 512);
  public static final Dataset QMSUM = of("QMSum", "qmsum", Kind.SUMMARY, 512);
  public static final Dataset MULTI_NEWS = of("MultiNews", "multi_news", Kind.SUMMARY, 512);
  public static final Dataset VCSUM = chinese("VCSUM", "vcsum", Kind.SUMMARY, 512);
  public static final Dataset TRIVIA_QA = of("TriviaQA", "triviaqa", Kind.EXAMPLES, 32);
  public static final Dataset SAMSUM = of("SAMSum", "samsum", Kind.DIALOGUES, 128);
  public static final Dataset TREC = of("TREC", "trec", Kind.CLASSES, 64);
  public static final Dataset LSHT = chinese("LSHT", "lsht", Kind.CLASSES, 64);
  public static final Dataset PASSAGES =
      of("PassageRetrieval", "passage_retrieval_en", Kind.PARAGRAPH, 32);
  public static final Dataset PASSAGE_COUNT = of("PassageCount", "passage_count", Kind.COUNT, 32);
  public static final Dataset PASSAGES_ZH =
      chinese("PassageRetrieval-zh", "passage_retrieval_zh", Kind.PARAGRAPH, 32);
  public static final Dataset LCC = of("LCC", "lcc", Kind.CODE, 64);
  public static final Dataset REPOBENCH = of("RepoBench-P", "repobench-p", Kind.CODE, 64);

  private LongBench() {}

  private static Dataset of(String name, String file, Kind kind, int maxTokens) {
    return of(name, file, kind, maxTokens, Words.ENGLISH);
  }

  private static Dataset chinese(String name, String file, Kind kind, int maxTokens) {
    return of(name, file, kind, maxTokens, Words.CHINESE);
  }

  private static Dataset of(String name, String file, Kind kind, int maxTokens, Words words) {
    return Dataset.of(
        name,
        file + ".jsonl",
        SOURCE,
        "longbench-" + kind.name().toLowerCase(Locale.ROOT).replace('_', '-'),
        (line, folder) -> item(line, folder, file, kind, maxTokens, words));
  }

  private static Item item(
      JsonLine line, Dataset.Folder folder, String file, Kind kind, int maxTokens, Words words) {
    List<String> answers = line.texts("answers");
    if (answers.isEmpty()) {
      throw new InvalidInputException("%s: has no 'answers'".formatted(line.place()));
    }
    List<String> classes = line.texts("all_classes");
    String context = line.text("context");
    String input = line.optional("input").orElse("");
    String prompt =
        folder.has(PROMPTS)
            ? ofUser(folder.path().resolve(PROMPTS), file, context, input)
            : ownPrompt(kind, context, input);
    Words overlap = kind == Kind.CODE ? Words.PLAIN : words;
    Judge judge = answer -> Judge.Mark.of(best(kind, overlap, answer, answers, classes));
    return Item.of(line.optional("_id").orElse(line.place()), prompt, kind.chat, maxTokens, judge);
  }

  private static double best(
      Kind kind, Words words, String answer, List<String> answers, List<String> classes) {
    String judged = kind.firstLine ? answer.stripLeading().lines().findFirst().orElse("") : answer;
    return answers.stream()
        .mapToDouble(reference -> kind.score(words, judged, reference, classes))
        .max()
        .orElse(0);
  }

  private static String ownPrompt(Kind kind, String context, String input) {
    if (kind == Kind.CODE) {
      return kind.request + "\n" + context + input;
    }
    return Stream.of(kind.request, context, input)
        .filter(part -> !part.isBlank())
        .reduce((left, right) -> left + "\n\n" + right)
        .orElse("");
  }

  private static String ofUser(Path file, String dataset, String context, String input) {
    try {
      JsonObject prompts = new Gson().fromJson(Files.readString(file), JsonObject.class);
      if (prompts == null || !prompts.has(dataset)) {
        throw new InvalidInputException("%s: has no prompt '%s'".formatted(file, dataset));
      }
      // The input first, because contexts may contain the placeholder.
      String template = prompts.get(dataset).getAsString();
      return template.replace("{input}", input).replace("{context}", context);
    } catch (IOException | JsonParseException e) {
      throw new InvalidInputException("%s: is no JSON object of prompts".formatted(file), e);
    }
  }
}
