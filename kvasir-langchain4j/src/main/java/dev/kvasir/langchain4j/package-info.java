/** Models of LangChain4j that run within the process. */
package dev.kvasir.langchain4j;
