package dev.kvasir.template;

import dev.kvasir.template.Expression.FilterCall;
import dev.kvasir.template.Statement.Parameter;
import dev.kvasir.template.Statement.Signature;
import dev.kvasir.template.Statement.Target;
import dev.kvasir.template.TokenStream.Kind;
import dev.kvasir.template.TokenStream.Token;
import java.util.ArrayList;
import java.util.List;

/** Parses tags and their bodies. */
final class Parser {
  private static final String SUPPORTED =
      "if, for, set, macro, call, filter, with, raw, generation, break and continue";

  private final TokenStream tokens;
  private final ExpressionParser expressions;
  private int loops;

  private Parser(TokenStream tokens) {
    this.tokens = tokens;
    this.expressions = new ExpressionParser(tokens);
  }

  static List<Statement> parse(String source, String name) {
    var parser = new Parser(new TokenStream(Lexer.tokens(source, name), name));
    return parser.body();
  }

  /**
   * Parses statements up to one of the tags in {@code ends}, whose name is then the current token.
   */
  private List<Statement> body(String... ends) {
    tokens.enter();
    int start = tokens.line();
    var body = new ArrayList<Statement>();
    while (true) {
      Token token = tokens.take();
      switch (token.kind()) {
        case DATA -> body.add(new Statement.Text((String) token.value()));
        case PRINT_BEGIN -> {
          body.add(new Statement.Print(expressions.tuple(), token.line()));
          tokens.endTag(Kind.PRINT_END);
        }
        case BLOCK_BEGIN -> {
          if (List.of(ends).contains(tokens.current().value())) {
            tokens.leave();
            return List.copyOf(body);
          }
          body.add(statement());
        }
        default -> {
          if (ends.length > 0) {
            throw tokens.error(start, "a block without its '{% " + ends[ends.length - 1] + " %}'");
          }
          tokens.leave();
          return List.copyOf(body);
        }
      }
    }
  }

  private Statement statement() {
    int line = tokens.line();
    String tag = tokens.expectName();
    return switch (tag) {
      case "if" -> condition(line);
      case "for" -> loop(line);
      case "set" -> set(line);
      case "macro" ->
          new Statement.MacroDefinition(macro(tokens.expectName(), parameters(), "endmacro"));
      case "call" -> call(line);
      case "filter" -> {
        List<FilterCall> filters = filters();
        endTag();
        yield new Statement.FilterBlock(filters, bodyUntil("endfilter"));
      }
      case "with" -> with(line);
      case "generation" -> {
        endTag();
        yield new Statement.Group(bodyUntil("endgeneration"));
      }
      case "break", "continue" -> {
        if (loops == 0) {
          throw tokens.error(line, "'" + tag + "' outside of a for loop");
        }
        endTag();
        yield tag.equals("break") ? new Statement.Break() : new Statement.Continue();
      }
      default ->
          throw tokens.error(line, "the unsupported tag '" + tag + "'; supported are " + SUPPORTED);
    };
  }

  private Statement condition(int line) {
    tokens.enterCondition();
    var branches = new ArrayList<Statement.Branch>();
    int branchLine = line;
    String ended;
    do {
      Expression test = expressions.tupleWithoutCondition();
      endTag();
      List<Statement> body = body("elif", "else", "endif");
      branches.add(new Statement.Branch(test, body, branchLine));
      branchLine = tokens.line();
      ended = tokens.expectName();
    } while (ended.equals("elif"));
    List<Statement> otherwise = otherwise(ended, "endif");
    tokens.leaveCondition();
    return new Statement.If(branches, otherwise);
  }

  private Statement loop(int line) {
    Target target = target(false);
    if (!tokens.takeName("in")) {
      throw tokens.unexpected("'in'");
    }
    Expression iterable = expressions.tupleWithoutCondition();
    Expression filter = tokens.takeName("if") ? expressions.expression() : null;
    if (tokens.atName("recursive")) {
      throw tokens.error(line, "the unsupported 'recursive' for loop; a macro may call itself");
    }
    endTag();
    loops++;
    List<Statement> body = body("else", "endfor");
    loops--;
    List<Statement> otherwise = otherwise(tokens.expectName(), "endfor");
    return new Statement.For(target, iterable, filter, body, otherwise, line);
  }

  private Statement set(int line) {
    Target target = target(true);
    if (tokens.takeOperator("=")) {
      Expression value = expressions.tuple();
      endTag();
      return new Statement.Set(target, value, line);
    }
    List<FilterCall> filters = tokens.takeOperator("|") ? filters() : List.of();
    endTag();
    return new Statement.SetBlock(target, filters, bodyUntil("endset"), line);
  }

  private List<FilterCall> filters() {
    var filters = new ArrayList<FilterCall>();
    do {
      filters.add(expressions.filter());
    } while (tokens.takeOperator("|"));
    return filters;
  }

  private Statement call(int line) {
    List<Parameter> parameters = tokens.atOperator("(") ? parameters() : List.of();
    if (!(expressions.expression() instanceof Expression.Call call)) {
      throw tokens.error(line, "a call block that calls nothing");
    }
    return new Statement.CallBlock(call, macro("caller", parameters, "endcall"), line);
  }

  /** Parses a macro. Its body is outside of any loop, even if the macro is in one. */
  private Signature macro(String name, List<Parameter> parameters, String end) {
    endTag();
    int outer = loops;
    int start = tokens.position();
    loops = 0;
    List<Statement> body = bodyUntil(end);
    loops = outer;
    boolean varargs = tokens.mentionedSince(start, "varargs");
    boolean kwargs = tokens.mentionedSince(start, "kwargs");
    return new Signature(name, parameters, body, varargs, kwargs);
  }

  private List<Parameter> parameters() {
    var parameters = new ArrayList<Parameter>();
    tokens.expectOperator("(");
    while (!tokens.takeOperator(")")) {
      if (!parameters.isEmpty()) {
        tokens.expectOperator(",");
      }
      String name = tokens.expectName();
      Expression fallback = tokens.takeOperator("=") ? expressions.expression() : null;
      parameters.add(new Parameter(name, fallback));
    }
    return parameters;
  }

  private Statement with(int line) {
    var assignments = new ArrayList<Statement.Set>();
    while (!tokens.at(Kind.BLOCK_END)) {
      if (!assignments.isEmpty()) {
        tokens.expectOperator(",");
      }
      Target target = single(false);
      tokens.expectOperator("=");
      assignments.add(new Statement.Set(target, expressions.expression(), line));
    }
    endTag();
    return new Statement.With(assignments, bodyUntil("endwith"));
  }

  private Target target(boolean fields) {
    Target first = single(fields);
    if (!tokens.atOperator(",")) {
      return first;
    }
    var targets = new ArrayList<>(List.of(first));
    while (tokens.takeOperator(",") && (tokens.at(Kind.NAME) || tokens.atOperator("("))) {
      targets.add(single(fields));
    }
    return new Target.TupleTarget(targets);
  }

  private Target single(boolean fields) {
    if (tokens.takeOperator("(")) {
      tokens.enter();
      Target inner = target(fields);
      tokens.leave();
      tokens.expectOperator(")");
      return inner;
    }
    String name = tokens.expectName();
    if (List.of("true", "false", "none", "True", "False", "None").contains(name)) {
      throw tokens.error("an assignment to '" + name + "'");
    }
    return fields && tokens.takeOperator(".")
        ? new Target.Field(name, tokens.expectName())
        : new Target.Variable(name);
  }

  /** Parses the rest of the tag {@code reached}, and the else branch if that is the tag. */
  private List<Statement> otherwise(String reached, String end) {
    endTag();
    return reached.equals("else") ? bodyUntil(end) : List.of();
  }

  private List<Statement> bodyUntil(String end) {
    List<Statement> body = body(end);
    tokens.expectName();
    endTag();
    return body;
  }

  private void endTag() {
    tokens.endTag(Kind.BLOCK_END);
  }
}
