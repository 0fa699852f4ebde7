package dev.kvasir.docs;

import java.util.List;
import java.util.Optional;

/**
 * A code block, fenced or indented.
 *
 * @param line the number of its first line of code
 * @param language in lower case, empty where the page names none
 * @param remarks what comments of the form {@code <!-- snippet: ... -->} before it say
 */
record CodeBlock(int line, String language, List<String> lines, List<String> remarks) {
  CodeBlock {
    lines = List.copyOf(lines);
    remarks = List.copyOf(remarks);
  }

  boolean isIgnored() {
    return remarks.contains("ignore");
  }

  /** Returns what follows a word in a remark: {@code Model model} of {@code given Model model}. */
  Optional<String> remark(String word) {
    return remarks.stream()
        .filter(remark -> remark.startsWith(word + " "))
        .map(remark -> remark.substring(word.length()).strip())
        .findFirst();
  }
}
