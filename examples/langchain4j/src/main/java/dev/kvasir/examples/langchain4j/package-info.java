/** The example of LangChain4j that the documentation shows. */
package dev.kvasir.examples.langchain4j;
