/**
 * A Jinja interpreter for chat templates. {@link dev.kvasir.template.JinjaTemplate} is the only
 * entry point; it renders like Python's Jinja2, with limits for untrusted templates.
 *
 * <p>The source passes through the lexer and the parser to a tree of statements and expressions,
 * which the renderer executes. Of Python's strings, lists and dictionaries it has the methods and
 * formats that chat templates use; anything else is an error that names it. This package uses
 * nothing but the JDK.
 */
package dev.kvasir.template;
