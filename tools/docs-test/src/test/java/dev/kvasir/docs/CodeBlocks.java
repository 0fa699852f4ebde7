package dev.kvasir.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Separates code blocks from text, line by line.
 *
 * <p>Indented code follows a blank line or other indented code. In a list it is indented by four
 * columns more than the text of the list.
 */
final class CodeBlocks {
  private static final Pattern FENCE = Pattern.compile("^(\\s*)(`{3,}|~{3,})\\s*([^\\s`]*).*$");
  private static final Pattern ITEM = Pattern.compile("^(\\s*(?:[-*+]|\\d+[.)])\\s+)\\S.*$");
  private static final Pattern REMARK =
      Pattern.compile("^\\s*<!--\\s*snippet:\\s*(.*?)\\s*-->\\s*$");
  private static final int INDENT = 4;

  private final List<CodeBlock> blocks = new ArrayList<>();
  private final StringBuilder text = new StringBuilder();
  private final List<String> remarks = new ArrayList<>();

  private final List<String> code = new ArrayList<>();
  private int codeLine;
  private String fence;
  private String language = "";
  private int listIndent;
  private boolean afterBlank = true;

  private CodeBlocks() {}

  static CodeBlocks of(String markdown) {
    CodeBlocks all = new CodeBlocks();
    int number = 0;
    for (String line : markdown.lines().toList()) {
      all.read(++number, line);
    }
    all.endBlock();
    return all;
  }

  List<CodeBlock> blocks() {
    return blocks;
  }

  /** Returns the page with an empty line for each line of code. */
  String text() {
    return text.toString();
  }

  private void read(int number, String line) {
    if (fence != null) {
      readFenced(line);
    } else if (isIndentedCode(line)) {
      startBlock(number);
      code.add(line);
      text.append('\n');
    } else {
      readText(number, line);
    }
  }

  private void readFenced(String line) {
    text.append('\n');
    String stripped = line.strip();
    if (stripped.startsWith(fence) && stripped.chars().allMatch(c -> c == fence.charAt(0))) {
      endBlock();
      fence = null;
    } else {
      code.add(line);
    }
  }

  private boolean isIndentedCode(String line) {
    if (line.isBlank()) {
      return !code.isEmpty();
    }
    return (afterBlank || !code.isEmpty())
        && indent(line) >= listIndent + INDENT
        && !ITEM.matcher(line).matches();
  }

  private static int indent(String line) {
    return line.length() - line.stripLeading().length();
  }

  private void readText(int number, String line) {
    endBlock();
    Matcher opened = FENCE.matcher(line);
    Matcher remark = REMARK.matcher(line);
    if (opened.matches()) {
      fence = opened.group(2);
      language = opened.group(3).toLowerCase(Locale.ROOT);
      codeLine = number + 1;
      text.append('\n');
      afterBlank = false;
      return;
    }
    if (remark.matches()) {
      remarks.add(remark.group(1));
    } else if (!line.isBlank()) {
      remarks.clear();
    }
    followList(line);
    afterBlank = line.isBlank();
    text.append(line).append('\n');
  }

  private void followList(String line) {
    Matcher item = ITEM.matcher(line);
    if (item.matches()) {
      listIndent = item.group(1).length();
    } else if (afterBlank && !line.isBlank() && indent(line) == 0) {
      listIndent = 0;
    }
  }

  private void startBlock(int number) {
    if (code.isEmpty()) {
      codeLine = number;
    }
  }

  private void endBlock() {
    if (!code.isEmpty()) {
      blocks.add(new CodeBlock(codeLine, language, code, remarks));
      afterBlank = code.getLast().isBlank();
      code.clear();
      remarks.clear();
    }
    language = "";
  }
}
