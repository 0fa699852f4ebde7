package dev.kvasir.docs;

import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * A block of Java code as a source file. A block without a type is the body of a method, which may
 * follow imports. Every block may use the packages of java.base and the API without an import.
 *
 * <p>Comments before a block add to it: {@code <!-- snippet: given Model model, Path file -->}
 * declares variables, {@code <!-- snippet: import dev.kvasir.server.* -->} imports.
 */
final class JavaSnippet {
  private static final Pattern TYPE =
      Pattern.compile(
          "(?m)^(?:(?:public|final|abstract|sealed|non-sealed) )*"
              + "(?:class|interface|record|enum|@interface) (\\w+)");

  private static final Pattern IMPORTS = Pattern.compile("\\A(?:\\s*import [^;]+;)*");

  /** Code that is left out. */
  private static final Pattern OMISSION = Pattern.compile("(?m)^\\s*(?:\\.\\.\\.|…)\\s*$");

  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

  private final CodeBlock block;

  JavaSnippet(CodeBlock block) {
    this.block = block;
  }

  /** An error, with the line of the page it is in. */
  record Error(int line, String message) {}

  List<Error> errors(JavaFileManager files, String classPath) {
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    List<String> options = List.of("-proc:none", "-nowarn", "-cp", classPath);
    COMPILER.getTask(null, files, found, options, null, List.of(source())).call();
    return found.getDiagnostics().stream()
        .filter(each -> each.getKind() == Diagnostic.Kind.ERROR)
        .map(this::error)
        .toList();
  }

  private Error error(Diagnostic<? extends JavaFileObject> diagnostic) {
    String message = diagnostic.getMessage(Locale.ROOT).replaceAll("\\s*\\n\\s*", "; ");
    int line = (int) Math.max(1, Math.min(diagnostic.getLineNumber(), block.lines().size()));
    return new Error(block.line() + line - 1, message);
  }

  /** All code around the block is in its first and last line, which keeps the numbers of lines. */
  private JavaFileObject source() {
    String code = OMISSION.matcher(String.join("\n", block.lines())).replaceAll("");
    String head =
        "import module java.base; import dev.kvasir.*; "
            + block.remark("import").map(JavaSnippet::imports).orElse("");
    Matcher type = TYPE.matcher(code);
    if (type.find()) {
      return file(type.group(1), head + code);
    }
    Matcher imports = IMPORTS.matcher(code);
    imports.lookingAt();
    String body = code.substring(imports.end());
    String method =
        "class Snippet { void snippet("
            + block.remark("given").orElse("")
            + ") throws Exception { ";
    return file("Snippet", head + imports.group() + method + body + "\n}}");
  }

  private static String imports(String names) {
    return "import " + names.replaceAll("\\s*,\\s*", "; import ") + "; ";
  }

  private static JavaFileObject file(String type, String code) {
    URI uri = URI.create("string:///" + type + JavaFileObject.Kind.SOURCE.extension);
    return new SimpleJavaFileObject(uri, JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return code;
      }
    };
  }
}
